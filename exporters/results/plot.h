/*
 * result_plot - the picture of an entry's timings: what it took, over time.
 *
 * Up to RESULT_PLOT_POINTS runs are points; of more, steps of time with their
 * median, the middle half and the least to greatest.  Where the level changed
 * (change_points.h) there is a mark with the date and by how much the median
 * did.
 *
 * The table has two parts: `time median least lower upper greatest runs` of
 * each step (of a point all five are the same), and behind two empty lines
 * `from to median percent` of each level; percent against the level before.
 * Times are seconds since 1970, the middle of a step; values are seconds.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PLOT_H
#define EXPORTERS_RESULTS_PLOT_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/results/change_points.h"

enum { RESULT_PLOT_POINTS = 300, RESULT_PLOT_STEPS = 240 };

struct result_point {
	double time, value; /* seconds; finite */
};

struct result_step {
	double time;
	double median, least, lower, upper, greatest;
	uint32_t runs;
};

struct result_level {
	double from, to, median;
	double percent; /* against the one before; NaN: of the first, of 0 */
};

struct result_plot {
	struct text pool, test, entry;
	uint32_t runs;
	uint64_t left_out; /* runs without a number */
	bool cut;          /* there are older ones */

	double first, last;  /* times */
	double step_seconds; /* 0: points */
	double median;
	double low, high; /* of the picture */
	uint32_t beyond;  /* runs outside of it */
	struct result_step *steps;
	uint32_t step_count;
	struct result_level levels[CHANGE_POINTS_MAX + 1];
	uint32_t level_count;
};

/* `points` are in the order of time, one at least. */
void result_plot_init(struct result_plot *plot,
    const struct result_point *points, uint32_t count);
void result_plot_clear(struct result_plot *plot);

/* For struct picture, with a struct result_plot. */
void result_plot_table(const void *what, FILE *file);
void result_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif
