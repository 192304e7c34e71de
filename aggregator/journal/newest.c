/*
 * newest - the newest journal entry of each partition, for other threads.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/newest.h"

#include <string.h>

/* FNV-1a.  Whoever makes partitions collide only makes their readers wait for
 * each other. */
static uint32_t
place_of(struct text partition)
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = 0; i < partition.bytes; i++)
		hash = (hash ^ (unsigned char)partition.at[i]) * 16777619u;
	return (hash ^ hash >> 16) % NEWEST_PLACES;
}

void
newest_init(struct newest *newest, uint64_t last)
{
	for (uint32_t i = 0; i < NEWEST_PLACES; i++)
		atomic_init(&newest->number[i], last);
	newest_failed(newest);
}

void
newest_touch(struct newest *newest, struct text partition)
{
	newest->touched[place_of(partition)] = true;
}

void
newest_committed(struct newest *newest, uint64_t last)
{
	for (uint32_t i = 0; i < NEWEST_PLACES; i++)
		if (newest->touched[i])
			atomic_store(&newest->number[i], last);
	newest_failed(newest);
}

void
newest_failed(struct newest *newest)
{
	memset(newest->touched, 0, sizeof(newest->touched));
}

uint64_t
newest_get(const struct newest *newest, struct text partition)
{
	return atomic_load(&newest->number[place_of(partition)]);
}
