/*
 * pull_sum - what a replica has of some rows, in three numbers that differ
 * when it lacks some.
 *
 * Every replica has a part of what was committed, and none has more.  So the
 * greatest of their sums is that of a complete one, and whoever reads rows
 * counts them in the same way.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_SUM_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* Of different rows. */
struct pull_sum {
	uint64_t rows;
	/* Rows of keys: sums of their epochs and change numbers.  Records: 0
	 * and the sum of the hashes of their identities. */
	uint64_t epochs, changes;
};

/* < 0, 0, > 0. */
static inline int
pull_sum_compare(const struct pull_sum *a, const struct pull_sum *b)
{
	if (a->rows != b->rows)
		return a->rows < b->rows ? -1 : 1;
	if (a->epochs != b->epochs)
		return a->epochs < b->epochs ? -1 : 1;
	return (a->changes > b->changes) - (a->changes < b->changes);
}

static inline bool
pull_sum_is_equal(const struct pull_sum *a, const struct pull_sum *b)
{
	return pull_sum_compare(a, b) == 0;
}

#endif
