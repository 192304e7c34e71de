/*
 * limits - by how much two groups of durations differ, and how sure that is.
 *
 * Of the logarithms of the durations: the median of all differences of a new
 * and an old one estimates the ratio of typical ones (J. L. Hodges, E. L.
 * Lehmann, "Estimates of location based on rank tests", Annals of Mathematical
 * Statistics 34, 1963); the limits are those differences at which the test of
 * ranks.h, of the new ones divided by the ratio, would begin to see one (D. F.
 * Bauer, "Constructing confidence sets using rank statistics", Journal of the
 * American Statistical Association 67, 1972).  A limit belongs to what it
 * limits, so that equal values make it hold more often, not less (G. E.
 * Noether, "Wilcoxon confidence intervals for location parameters in the
 * discrete case", same journal 62, 1967).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_LIMITS_H
#define EXPORTERS_COMPARE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/compare/ranks.h"

/* Logarithms, sorted; none is empty. */
struct limits_groups {
	const double *old, *new;
	uint32_t old_count, new_count;
	const struct ranks_null *null; /* of these counts */
};

/* The difference of a new and an old one of which `number` - 1 are smaller, by
 * their order; from 1 on. */
double limits_difference(const struct limits_groups *groups, uint64_t number);
/* How many differences are at most `most`. */
uint64_t limits_count(const struct limits_groups *groups, double most);

/* The median difference. */
double limits_estimate(const struct limits_groups *groups);
/* Each is wrong in at most this share of all comparisons.  False: there are too
 * few to say so, and they are infinite. */
bool limits_find(const struct limits_groups *groups, double share, double *low,
    double *high);

/* How many new ones would decide at this share with that many old ones; 0: no
 * number up to a million does. */
uint32_t limits_least(uint32_t old_count, double share);

#endif
