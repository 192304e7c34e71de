/*
 * ranks - the Mann-Whitney test of two groups, exactly.
 *
 * The sums of the ranks of a group, if each choice of as many of all values is
 * equally likely, are counted value by value (B. Streitberg, J. Roehmel, "Exact
 * distributions for permutation and rank tests", Statistical Software
 * Newsletter 12, 1986), which holds with equal values, too.  Above
 * RANKS_PAIRS_MAX pairs the normal distribution takes its place; its tails are
 * longer than the true ones, so that limits are wider, not closer.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_RANKS_H
#define EXPORTERS_COMPARE_RANKS_H

#include <stdint.h>

enum { RANKS_PAIRS_MAX = 2500 };

/* Of groups of these sizes without equal values: how often chance makes the
 * number of pairs in which the one of the first group is the greater at most
 * so large.  Zeroed it is empty. */
struct ranks_null {
	uint32_t first, second;
	double *shares; /* by number of pairs; NULL: the normal distribution */
};
/* Make it for these sizes, if it is not. */
void ranks_null_make(struct ranks_null *null, uint32_t first, uint32_t second);
void ranks_null_clear(struct ranks_null *null);
/* The share of at most `pairs` pairs. */
double ranks_null_share(const struct ranks_null *null, uint64_t pairs);
/* The largest number c of pairs for which fewer than c have at most this share;
 * 0: there is none. */
uint64_t ranks_null_pairs(const struct ranks_null *null, double share);

/* How likely chance makes the groups differ by at least as much, in either
 * direction, equal values included.  Both are sorted and not empty. */
double ranks_likeness(const double *first, uint32_t first_count,
    const double *second, uint32_t second_count);

#endif
