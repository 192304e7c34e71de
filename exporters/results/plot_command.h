/*
 * result_plot_command - plot the timings of the entries of a test.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PLOT_COMMAND_H
#define EXPORTERS_RESULTS_PLOT_COMMAND_H

#include "exporters/gnuplot/picture.h"
#include "exporters/source/source.h"

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
