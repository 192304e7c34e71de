/*
 * group - members grouped by key: added in any order, visited in the order of
 * the keys.
 *
 * A transaction of the indexer has far more records than rows, so records are
 * hashed into groups, and only the groups are sorted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_GROUP_H
#define AGGREGATOR_INDEXER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

enum { GROUP_KEY_WORDS = 5 };
#define GROUP_END UINT32_MAX

struct group {
	uint32_t key[GROUP_KEY_WORDS]; /* sort order: first word to last word */
	uint32_t first, last;          /* numbers of members */
	uint32_t count;
	uint32_t mixed; /* set by the caller: the members are not in order */
};

struct groups {
	struct group *at;
	uint32_t count, room;
	uint32_t *slot; /* hash table of group numbers + 1 */
	uint32_t slots; /* a power of two */
	uint32_t *next; /* of each member: the next one in its group */
	uint32_t next_room;
	uint32_t *order; /* memory of group_order */
	uint32_t order_room;
};

/* Returns the group of `key`.  A new group has count 0; its `first` and `last`
 * are undefined.  Valid until the next call. */
struct group *group_of(
    struct groups *groups, const uint32_t key[static GROUP_KEY_WORDS]);
/* Append `thing` to the group.  A thing is a member of one group only. */
void group_append(struct groups *groups, struct group *group, uint32_t thing);
static inline uint32_t
group_next(const struct groups *groups, uint32_t thing)
{
	return groups->next[thing];
}

/* Sort the members of a group; `compare` is that of qsort_r and compares
 * things. */
void group_order(struct groups *groups, struct group *group,
    int (*compare)(const void *left, const void *right, void *arg), void *arg);

/* Sort groups->at.  Afterwards group_of must not be called until the reset. */
void groups_sort(struct groups *groups);
void groups_reset(struct groups *groups);
void groups_clear(struct groups *groups);

#endif
