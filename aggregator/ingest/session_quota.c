/*
 * session_quota - how many new sessions each node has begun in this hour.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/session_quota.h"

#include <string.h>

#include "proto/os/clock.h"

#define HOUR_NS (3600 * NS_PER_SECOND)

void
quota_init(struct quota *quota, uint64_t per_hour)
{
	quota->per_hour = per_hour;
	quota->key = hash_key_random();
	quota_forget(quota);
}

bool
quota_take(struct quota *quota, struct text partition, struct text node,
    int64_t now_ns)
{
	int64_t hour = now_ns / HOUR_NS;
	uint64_t hash =
	    hash_bytes(quota->key, node.at, node.bytes) ^
	    hash_bytes(quota->key, partition.at, partition.bytes) * 3;
	struct quota_node *at = &quota->at[hash % QUOTA_NODES];

	if (quota->per_hour == 0)
		return true;
	if (at->node != hash || at->hour != hour)
		*at = (struct quota_node){ .node = hash, .hour = hour };
	if (at->count >= quota->per_hour)
		return false;
	at->count++;
	return true;
}

void
quota_forget(struct quota *quota)
{
	memset(quota->at, 0, sizeof(quota->at));
}
