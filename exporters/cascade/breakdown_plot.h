/*
 * cascade_breakdown_plot - the picture of the phases that add up to a pool's
 * startup time.
 *
 * Up to BREAKDOWN_BARS nodes: one horizontal bar for each node, sorted by
 * start, divided into the bands of exporters/cascade/breakdown.h.  More nodes:
 * sorted by the time they took, with the bands stacked over the rank.  Each
 * step shows the mean of its nodes, so that 10,000 nodes are as readable as
 * 100; marks show half, 90 % and 99 % of the nodes.
 *
 * The table next to it has one line for each node or step: first rank or
 * number, last, name, seconds of each band, total.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_PLOT_H
#define EXPORTERS_CASCADE_BREAKDOWN_PLOT_H

#include <stdio.h>

#include "exporters/cascade/breakdown.h"
#include "exporters/gnuplot/gnuplot.h"

enum { BREAKDOWN_BARS = 60, BREAKDOWN_STEPS = 240 };

struct breakdown_plot; /* opaque */

/* Returns a new picture of the complete nodes; there must be at least one. */
struct breakdown_plot *breakdown_plot_new(const struct cascade *cascade);
void breakdown_plot_free(struct breakdown_plot **plot);

void breakdown_plot_dat(const struct breakdown_plot *plot, FILE *file);
void breakdown_plot_script(const struct breakdown_plot *plot, FILE *file,
    struct text pool, const char *dat, enum gnuplot_terminal terminal);

#endif
