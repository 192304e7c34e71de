/*
 * phases_plot - the picture of --view phases: the phases that add up to a
 * pool's startup time.
 *
 * Up to PHASES_BARS nodes: one horizontal bar for each node, sorted by start,
 * divided into the bands of exporters/cascade/phases.h.  More nodes: sorted by
 * the time they took, with the bands stacked over the rank.  Each step shows
 * the mean of its nodes, so that 10,000 nodes are as readable as 100; marks
 * show half, 90 % and 99 % of the nodes.
 *
 * The table next to it has one line for each node or step: first rank or
 * number, last, name, seconds of each band, total.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PHASES_PLOT_H
#define EXPORTERS_CASCADE_PHASES_PLOT_H

#include <stdio.h>

#include "exporters/cascade/phases.h"
#include "exporters/gnuplot/gnuplot.h"

enum { PHASES_BARS = 60, PHASES_STEPS = 240 };

struct phases_plot; /* opaque */

/* Returns a new picture of the complete nodes; there must be at least one. */
struct phases_plot *phases_plot_new(const struct cascade *cascade);
void phases_plot_free(struct phases_plot **plot);

void phases_plot_dat(const struct phases_plot *plot, FILE *file);
void phases_plot_script(const struct phases_plot *plot, FILE *file,
    struct text pool, const char *dat, enum gnuplot_terminal terminal);

#endif
