/*
 * phases_plot_command - pictures of the phases of any model: what each node
 * did when, and how long each phase took.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_PLOT_COMMAND_H
#define EXPORTERS_PHASES_PLOT_COMMAND_H

#include <stdbool.h>

#include "exporters/gnuplot/picture.h"
#include "exporters/source/source.h"

struct plot_phases {
	const char
	    *model;       /* its name or its file; NULL: each that has phases */
	const char *node; /* list; "": all */
	int64_t from_ns, to_ns; /* in which the phases begin */
	bool nodes, distribution;
};

/* `picture` has the output options.  BASE-MODEL-phases and
 * BASE-MODEL-distribution. */
int plot_phases(struct source *source, struct text partition,
    const struct plot_phases *what, const struct picture *picture,
    struct err *err);

#endif
