/*
 * quantile - which value of a sorted list is its quantile.
 *
 * The nearest rank: the least value that is not less than `percent` of all
 * values (R. J. Hyndman, Y. Fan: "Sample Quantiles in Statistical Packages",
 * The American Statistician 50, 1996, definition 1; numpy: inverted_cdf).  It
 * is one of the values, and of few values the greatest is within reach.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_QUANTILE_H
#define PROTO_BASE_QUANTILE_H

#include <stdint.h>

/* The index of the quantile of `count` sorted values; 0 < percent <= 100. */
static inline uint64_t
quantile_index(uint64_t count, unsigned percent)
{
	unsigned __int128 share = (unsigned __int128)count * percent;

	return count == 0 ? 0 : (uint64_t)((share + 99) / 100) - 1;
}

/* Of sorted values, one at least: the mean of both in the middle. */
static inline double
quantile_median(const double *sorted, uint64_t count)
{
	return sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2;
}

/* The quantile of `count` values, at least one and none of them NaN, in any
 * order, which it changes.  Takes some passes over them, whatever they are. */
double quantile_select(double *values, uint64_t count, unsigned percent);

#endif
