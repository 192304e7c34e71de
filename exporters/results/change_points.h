/*
 * change_points - detect lasting level changes in a series.
 *
 * The values are ranked, so that outliers and skew weigh no more than other
 * values.  For each position the difference of the mean ranks on its left and
 * right is computed, in units of the difference that chance produces.  This is
 * done over the whole series and over seeded intervals of it, so that a change
 * is found even if others before and after mask it (S. Kovacs, P. Buehlmann,
 * H. Li, A. Munk, "Seeded binary segmentation", Biometrika 110, 2023; decay
 * 1/sqrt(2)).  The series is divided at the largest significant difference and
 * each part is examined by itself.  Finally each change is moved to its best
 * position between its neighbours, and a change that is no longer significant
 * there is dropped.
 *
 * Significance: in one of a hundred series without a change, whatever the
 * distribution, a change is reported (the critical values were simulated:
 * tests/bench/changes.c).  Values that are like those before them make changes
 * that are none; the critical values are widened by their correlation, which
 * keeps the promise of series of 100 values correlated by up to 0.5.  Of
 * shorter ones it is one of forty, as few values say little of a correlation.
 * A slow drift is reported as steps.
 *
 * The result depends only on the values.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_CHANGE_POINTS_H
#define EXPORTERS_RESULTS_CHANGE_POINTS_H

#include <stdint.h>

enum {
	CHANGE_POINTS_SIDE =
	    4, /* minimum number of values between two changes */
	CHANGE_POINTS_LEAST = 10, /* shorter series are not analysed */
	CHANGE_POINTS_MAX =
	    100, /* limit; the coarsest changes are found first */
};
#define CHANGE_POINTS_ALARM                                                    \
	0.01 /* false positive rate of a series without a change */

struct change_points {
	/* The index of the first value of each new level, ascending. */
	uint32_t at[CHANGE_POINTS_MAX];
	uint32_t count;
};

/* `values` must be finite. */
void change_points_find(
    struct change_points *change_points, const double *values, uint32_t count);

/* The largest difference and its position; 0 if there is none. */
double change_points_greatest(
    const double *values, uint32_t count, uint32_t *at);
/* The critical value for a series of this length: chance exceeds it in one
 * series of a hundred. */
double change_points_critical(uint32_t count);

/* The median: the middle value, or the mean of the two middle values.  Sorts
 * `values`. */
double change_points_median(double *values, uint32_t count);

#endif
