/*
 * phases_plot - the picture of --view phases: the phases that add up to a
 * pool's startup time (exporters/gnuplot/bands.h), of each complete node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PHASES_PLOT_H
#define EXPORTERS_CASCADE_PHASES_PLOT_H

#include <stdio.h>

#include "exporters/cascade/phases.h"
#include "exporters/gnuplot/bands.h"

enum { PHASES_TITLE_BYTES = 4096 };

struct phases_plot {
	struct bands bands;
	char title[PHASES_TITLE_BYTES], note[SOURCE_CLOCK_WORDS + 16];
};

/* Returns a new picture; there must be at least one complete node. */
struct phases_plot *phases_plot_new(
    const struct cascade *cascade, struct text pool);
void phases_plot_free(struct phases_plot **plot);

#endif
