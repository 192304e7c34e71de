/*
 * phases_plot_command - pictures of the phases of any model: what each node
 * did when, how long it was in each phase, and how long each phase took.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_PLOT_COMMAND_H
#define EXPORTERS_PHASES_PLOT_COMMAND_H

#include <stdbool.h>

#include "exporters/plot/gnuplot.h"
#include "exporters/source/source.h"

struct plot_phases {
	const char
	    *model;       /* its name or its file; NULL: each that has phases */
	const char *node; /* list; "": all */
	int64_t from_ns, to_ns; /* in which the phases begin */
	int64_t gap_ns;         /* between two starts, as in starts_query */
	const char *start;      /* words for the start; empty: none */
	/* Of which the source has the records; NULL: of all. */
	const struct job_intervals *jobs;
	bool timeline, breakdown, distribution;
};

/* `picture` has the output options.  BASE-MODEL-phases, BASE-MODEL-breakdown
 * and BASE-MODEL-distribution. */
int plot_phases(struct source *source, struct text partition,
    const struct plot_phases *what, const struct picture *picture,
    struct err *err);

#endif
