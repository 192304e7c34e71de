/*
 * robust - medians, spreads and bounds that a few odd values do not move.
 *
 * The median of an even number of values is the mean of both in the middle;
 * quantiles are interpolated between ranks (Hyndman and Fan, definition 7:
 * scipy, numpy and R by default).  Spreads are scaled by 1.4826, so that they
 * are the standard deviation of normal values.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_ROBUST_H
#define EXPORTERS_STRAGGLERS_ROBUST_H

#include <stdint.h>

#define ROBUST_NORMAL 1.4826 /* 1 / the third quartile of the normal */

/* Of sorted values, one at least; 0 <= share <= 1. */
double robust_quantile(const double *sorted, uint32_t count, double share);
static inline double
robust_median(const double *sorted, uint32_t count)
{
	return robust_quantile(sorted, count, 0.5);
}
/* The median of the distances from the median: of all values, and of those
 * above it, which is the wider one where values have a long tail; 0: there are
 * none. */
double robust_spread(const double *sorted, uint32_t count);
double robust_upper_spread(const double *sorted, uint32_t count);
/* Tukey's upper bound: the third quartile and 1.5 times the distance of the
 * quartiles. */
double robust_tukey(const double *sorted, uint32_t count);

#endif
