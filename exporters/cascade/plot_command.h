/*
 * cascade_plot_command - pictures of the startup of a pool's nodes: their
 * states and their phases.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PLOT_COMMAND_H
#define EXPORTERS_CASCADE_PLOT_COMMAND_H

#include <stdbool.h>

#include "exporters/cascade/cascade.h"
#include "exporters/gnuplot/picture.h"
#include "exporters/source/source.h"

struct plot_cascade_views {
	bool reference, phases, distribution;
};

struct plot_cascade_options {
	bool numbers; /* written next to the pictures */
	bool strict;
};
extern const struct opt plot_cascade_options[]; /* bound to the struct */

/* `picture` has the output options. */
int plot_cascade(struct source *source, struct text partition,
    const struct cascade_window *window,
    const struct plot_cascade_options *options,
    const struct plot_cascade_views *views, const struct picture *picture,
    struct err *err);

#endif
