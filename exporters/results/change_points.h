/*
 * change_points - where a series changed its level, and stayed changed.
 *
 * The values are ranked, so that a few outliers or a skew count no more than
 * others, and the difference of the mean ranks left and right of every place is
 * taken, in units of what chance alone gives it; not only over all of the
 * series but over seeded intervals of it, so that a change is found though
 * others before and after hide it (S. Kovacs, P. Buehlmann, H. Li, A. Munk,
 * "Seeded binary segmentation", Biometrika 110, 2023; decay 1/sqrt(2)).  Where
 * the greatest of them is too great for chance the series is divided, and each
 * part is looked at by itself; at the end each change is put where it fits best
 * between its neighbours, and one that is too weak there is dropped.
 *
 * What is too great for chance: in a series without a change, whatever its
 * distribution, one in a hundred has one found in it (the critical values were
 * simulated: tests/bench/changes.c).  That is so when its values do not depend
 * on each other; a slow drift is reported as steps.
 *
 * The same for the same values, always.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_CHANGE_POINTS_H
#define EXPORTERS_RESULTS_CHANGE_POINTS_H

#include <stdint.h>

enum {
	CHANGE_POINTS_SIDE = 4,   /* values at least between two changes */
	CHANGE_POINTS_LEAST = 10, /* of fewer nothing can be said */
	CHANGE_POINTS_MAX = 100,  /* the coarsest are found first */
};
#define CHANGE_POINTS_ALARM 0.01 /* of a series without a change */

struct change_points {
	/* The first value of each new level, ascending. */
	uint32_t at[CHANGE_POINTS_MAX];
	uint32_t count;
};

/* `values` are finite. */
void change_points_find(
    struct change_points *change_points, const double *values, uint32_t count);

/* The greatest difference, and where; 0 when there is none. */
double change_points_greatest(
    const double *values, uint32_t count, uint32_t *at);
/* What chance exceeds in one of a hundred series of so many values. */
double change_points_critical(uint32_t count);

/* The middle one, or the mean of both; `values` are put in order. */
double change_points_median(double *values, uint32_t count);

#endif
