/*
 * group - things that belong under one key, collected in order of arrival and
 * then visited in the order of the keys.
 *
 * A transaction of the indexer has far more records than rows, so the records
 * are hashed into groups and only the groups are sorted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_GROUP_H
#define AGGREGATOR_INDEXER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { GROUP_KEY_WORDS = 5 };
#define GROUP_END UINT32_MAX

struct group {
	uint32_t key[GROUP_KEY_WORDS]; /* sorted by these, first to last */
	uint32_t first, last;          /* members: numbers of things */
	uint32_t count;
	uint32_t mixed; /* the caller's: members are not in their order */
};

struct groups {
	struct group *at;
	uint32_t count, room;
	uint32_t *slot; /* hash table: number of a group + 1 */
	uint32_t slots; /* a power of two */
	uint32_t *next; /* of each thing, within its group */
	uint32_t next_room;
	uint32_t *order; /* of group_order */
	uint32_t order_room;
};

/* The group of `key`; new when its count is 0: `first` and `last` mean nothing
 * then.  Valid until the next call. */
struct group *group_of(
    struct groups *groups, const uint32_t key[static GROUP_KEY_WORDS]);
/* Append `thing` (each is in one group) to the group. */
void group_append(struct groups *groups, struct group *group, uint32_t thing);
static inline uint32_t
group_next(const struct groups *groups, uint32_t thing)
{
	return groups->next[thing];
}

/* Put the members of a group in order: `compare` is qsort_r's, of things. */
void group_order(struct groups *groups, struct group *group,
    int (*compare)(const void *left, const void *right, void *arg), void *arg);

/* Sort groups->at; after it no group_of until the reset. */
void groups_sort(struct groups *groups);
void groups_reset(struct groups *groups);
void groups_clear(struct groups *groups);

#endif
