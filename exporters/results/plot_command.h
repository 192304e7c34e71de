/*
 * result_plot_command - pictures of what the entries of a test took.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_PLOT_COMMAND_H
#define EXPORTERS_RESULTS_PLOT_COMMAND_H

#include "exporters/gnuplot/picture.h"
#include "exporters/source/source.h"

struct plot_results {
	struct text test, entry; /* entry empty: all of the latest run */
	int64_t from_ns, to_ns;  /* of the starts */
};

/* A picture an entry; `picture` says where and how.  -1 also when there is
 * nothing to draw. */
int plot_results(struct source *source, struct text partition,
    const struct plot_results *what, const struct picture *picture,
    struct err *err);

#endif
