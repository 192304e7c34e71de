/*
 * group - members grouped by key.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/group.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { SLOTS_MIN = 1 << 10 };

/* The words are numbers that we gave, or a keyed hash, so a fast hash is
 * safe. */
static uint32_t
hash(const uint32_t *key)
{
	uint64_t h = 0;
	int i;

	for (i = 0; i < GROUP_KEY_WORDS; i++) {
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 16);
}

static void
rehash(struct groups *groups, uint32_t slots)
{
	uint32_t i, place;

	free(groups->slot);
	groups->slot = memory_zero(slots, sizeof(*groups->slot));
	groups->slots = slots;
	for (i = 0; i < groups->count; i++) {
		place = hash(groups->at[i].key) & (slots - 1);
		while (groups->slot[place] != 0)
			place = (place + 1) & (slots - 1);
		groups->slot[place] = i + 1;
	}
}

struct group *
group_of(struct groups *groups, const uint32_t key[static GROUP_KEY_WORDS])
{
	struct group *group;
	uint32_t place;

	if (2 * (groups->count + 1) > groups->slots)
		rehash(groups,
		    groups->slots ? 2 * groups->slots : (uint32_t)SLOTS_MIN);
	place = hash(key) & (groups->slots - 1);
	while (groups->slot[place] != 0) {
		group = &groups->at[groups->slot[place] - 1];
		if (memcmp(group->key, key, sizeof(group->key)) == 0)
			return group;
		place = (place + 1) & (groups->slots - 1);
	}
	if (groups->count == groups->room) {
		groups->room = groups->room ? 2 * groups->room : 512;
		groups->at = memory_resize(
		    groups->at, groups->room * sizeof(*groups->at));
	}
	group = &groups->at[groups->count++];
	groups->slot[place] = groups->count;
	memcpy(group->key, key, sizeof(group->key));
	group->count = group->mixed = 0;
	return group;
}

void
group_append(struct groups *groups, struct group *group, uint32_t thing)
{
	if (thing >= groups->next_room) {
		groups->next_room = thing < 1024 ? 2048 : thing + thing / 2;
		groups->next = memory_resize(
		    groups->next, groups->next_room * sizeof(*groups->next));
	}
	if (group->count == 0)
		group->first = thing;
	else
		groups->next[group->last] = thing;
	groups->next[thing] = GROUP_END;
	group->last = thing;
	group->count++;
}

void
group_order(struct groups *groups, struct group *group,
    int (*compare)(const void *left, const void *right, void *arg), void *arg)
{
	uint32_t i, thing = group->first;

	if (group->count > groups->order_room) {
		groups->order_room = 2 * group->count;
		groups->order = memory_resize(
		    groups->order, groups->order_room * sizeof(*groups->order));
	}
	for (i = 0; i < group->count; i++) {
		groups->order[i] = thing;
		thing = groups->next[thing];
	}
	qsort_r(
	    groups->order, group->count, sizeof(*groups->order), compare, arg);
	for (i = 0; i + 1 < group->count; i++)
		groups->next[groups->order[i]] = groups->order[i + 1];
	groups->next[groups->order[i]] = GROUP_END;
	group->first = groups->order[0];
	group->last = groups->order[i];
	group->mixed = false;
}

static uint64_t
pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static int
compare_keys(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	uint64_t x = pair(a->key[0], a->key[1]), y = pair(b->key[0], b->key[1]);

	if (x == y) {
		x = pair(a->key[2], a->key[3]);
		y = pair(b->key[2], b->key[3]);
	}
	if (x == y) {
		x = a->key[4];
		y = b->key[4];
	}
	return (x > y) - (x < y);
}

void
groups_sort(struct groups *groups)
{
	if (groups->count > 1)
		qsort(groups->at, groups->count, sizeof(*groups->at),
		    compare_keys);
}

void
groups_reset(struct groups *groups)
{
	if (groups->count > 0)
		memset(groups->slot, 0, groups->slots * sizeof(*groups->slot));
	groups->count = 0;
}

void
groups_clear(struct groups *groups)
{
	free(groups->at);
	free(groups->slot);
	free(groups->next);
	free(groups->order);
	memset(groups, 0, sizeof(*groups));
}
