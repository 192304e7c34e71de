/*
 * cascade_breakdown_plot - the picture of what really adds up in a pool's
 * start-up.
 *
 * Up to BREAKDOWN_BARS nodes: a horizontal bar a node, sorted by start, its
 * pieces the bands of exporters/cascade/breakdown.h.  More: the nodes sorted by
 * the time they took, the bands stacked over the rank, each step the mean of
 * the nodes in it, so that 10,000 nodes read like 100; marks at half, 90 % and
 * 99 %.
 *
 * The table beside it has a line a node or step:
 * first rank or number, last, name, seconds of each band, total.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_PLOT_H
#define EXPORTERS_CASCADE_BREAKDOWN_PLOT_H

#include <stdio.h>

#include "exporters/cascade/breakdown.h"
#include "exporters/gnuplot/gnuplot.h"

enum { BREAKDOWN_BARS = 60, BREAKDOWN_STEPS = 240 };

struct breakdown_plot; /* opaque */

/* Returns a new picture of the complete nodes, of which there must be one. */
struct breakdown_plot *breakdown_plot_new(const struct cascade *cascade);
void breakdown_plot_free(struct breakdown_plot **plot);

void breakdown_plot_dat(const struct breakdown_plot *plot, FILE *file);
void breakdown_plot_script(const struct breakdown_plot *plot, FILE *file,
    struct text pool, const char *dat, enum gnuplot_terminal terminal);

#endif
