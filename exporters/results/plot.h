/*
 * result_plot - plot the timings of an entry over time.
 *
 * Up to RESULT_PLOT_POINTS runs are drawn as points.  More runs are drawn as
 * time steps with their median, middle half, and range from least to greatest.
 * A mark shows each level change (change_points.h), with its date and the
 * change of the median.
 *
 * The table has two parts: `time median least lower upper greatest runs` of
 * each step (for a point all five are equal), and after two empty lines `from
 * to median percent` of each level; percent is relative to the previous level.
 * Times are seconds since 1970, the middle of a step; values are seconds.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PLOT_H
#define EXPORTERS_RESULTS_PLOT_H

#include "exporters/plot/gnuplot.h"
#include "exporters/results/change_points.h"
#include "exporters/source/source.h"

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
	double percent; /* change from the previous level; NaN: first level, or
			   previous is 0 */
};

struct result_plot {
	struct text partition, test, entry;
	uint32_t runs;
	uint64_t left_out; /* number of runs without a number */
	bool cut;          /* older runs exist */

	double first, last;  /* range of the time axis */
	double step_seconds; /* length of a step; 0: points */
	double median;
	double low, high; /* value range of the picture */
	uint32_t beyond;  /* number of runs outside that range */
	struct result_step *steps;
	uint32_t step_count;
	struct result_level levels[CHANGE_POINTS_MAX + 1];
	uint32_t level_count;
};

/* `points` holds at least one point, in order of time. */
void result_plot_init(struct result_plot *plot,
    const struct result_point *points, uint32_t count);
void result_plot_clear(struct result_plot *plot);

/* Plot the timings of the entries of a test. */

struct plot_results {
	struct text test,
	    entry; /* if `entry` is empty: all entries of the latest run */
	int64_t from_ns, to_ns; /* time range of the starts */
};

/* Draws one picture per entry; `picture` defines format and destination.
 * Returns -1 also when there is nothing to draw. */
int plot_results(struct source *source, struct text partition,
    const struct plot_results *what, const struct picture *picture,
    struct err *err);

#endif
