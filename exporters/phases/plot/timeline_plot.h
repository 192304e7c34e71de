/*
 * timeline_plot - the picture of what each node did when.
 *
 * Up to TIMELINE_PLOT_BARS nodes: a bar each, of the segments of
 * phases_timeline, at their times.  More: pixels as of a raster, a row a node
 * or several.  Nodes with a phase that has no end come first, and that phase is
 * an open bar.  Over them goes the critical path.
 *
 * The table has one line for each segment, or run of pixels: number of the row,
 * its first and its last node and how many they are, phase, begin and end in
 * seconds after the first begin of all, whether it is open, and of several
 * nodes the share of their time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_PLOT_TIMELINE_PLOT_H
#define EXPORTERS_PHASES_PLOT_TIMELINE_PLOT_H

#include <stdio.h>

#include "exporters/critical/shown.h"
#include "exporters/phases/raster.h"
#include "exporters/plot/gnuplot.h"

enum { TIMELINE_PLOT_BARS = 60 };

struct timeline_plot_run; /* opaque */

struct timeline_plot {
	const struct phases_timeline *of;
	const struct critical_shown *path;
	const char *title, *note; /* note: the end of the second line */
	/* private: */
	struct timeline_plot_run *runs;
	uint32_t run_count, run_room;
	struct raster_row *rows;
	uint32_t row_count, row_room;
	uint32_t *row_of; /* of a node; UINT32_MAX: it has none */
	uint32_t *number; /* of a phase, from 1; 0: it does not occur */
	uint8_t *places;  /* of the colours of phases (look.h) */
	uint32_t hanging; /* nodes */
};

/* Of a timeline with phases, which must outlive it; the caller has set title,
 * note and path.  Clear it in any case. */
int timeline_plot_make(struct timeline_plot *plot,
    const struct phases_timeline *timeline, struct err *err);
void timeline_plot_clear(struct timeline_plot *plot);

/* Callbacks of struct picture; the argument is a struct timeline_plot. */
void timeline_plot_table(const void *what, FILE *file);
void timeline_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif
