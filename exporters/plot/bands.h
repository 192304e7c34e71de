/*
 * bands - how nodes divide a time between phases: rows that are sums of
 * bands.
 *
 * Up to BANDS_BARS rows: one horizontal bar for each node, in the order given,
 * divided into the bands.  More: sorted by their total, with the bands stacked
 * over the rank.  Each step shows the mean of its nodes, so that 10,000 nodes
 * are as readable as 100; marks show half, 90 % and 99 % of the nodes, and the
 * slowest are named.
 *
 * The table next to it has one line for each node or step: first rank or
 * number, last, name, seconds of each band, total.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PLOT_BANDS_H
#define EXPORTERS_PLOT_BANDS_H

#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "exporters/plot/look.h"

enum { BANDS_BARS = 60, BANDS_STEPS = 240, BANDS_MAX = 16 };

struct band {
	struct text key; /* of the phase, with its model */
	struct text column, title;
	uint8_t place; /* of its colour (look.h) */
};

struct bands_row {
	struct text node;
	double start_s, total_s; /* start_s: after the first of all */
	double seconds[BANDS_MAX];
};

struct bands {
	struct band band[BANDS_MAX]; /* from the bottom up; all are drawn */
	unsigned band_count;
	struct bands_row *rows;
	uint32_t count;      /* at least 1 */
	const char *title;   /* the first line above the picture */
	const char *subject; /* what a row adds up: "Startup time" */
	const char *note;    /* the end of the second line; may be empty */
	const char *zero;    /* when second 0 of a bar is; NULL: a phase is the
				sum of its times */
	const char *total;   /* by what the nodes are sorted */
};

/* Call it first: sorts the rows if there are too many for bars. */
void bands_sort(struct bands *bands);

/* Callbacks of struct picture; the argument is a struct bands. */
void bands_table(const void *what, FILE *file);
void bands_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif
