/*
 * samples_plot - the picture of one metric.
 *
 * Up to SAMPLES_LINES nodes: a line a node, the mean of each step; of few
 * nodes also what lies between the least and the greatest.  More: over all
 * nodes a band from the least to the greatest with the median in it, and below
 * a map of nodes and time, in which a row is a node or, of more than
 * SAMPLES_MAP_ROWS, the mean of as many as it takes.
 *
 * The table has two parts that an empty line or two divide (index 0, 1 of
 * gnuplot): for lines one part a node, `time mean low high`; else
 * `time least median greatest nodes` and then the map, a line a row of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_PLOT_H
#define EXPORTERS_SAMPLES_PLOT_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/samples/node_table.h"

enum { SAMPLES_LINES = 12, SAMPLES_MAP_ROWS = 200 };

struct samples_plot {
	const struct samples *samples;
	const struct samples_metric *metric;
	struct text pool;
	const char *job; /* NULL: whatever ran */
};

/* For struct picture, with a struct samples_plot. */
void samples_plot_table(const void *what, FILE *file);
void samples_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

/* What table and script agree on. */
bool samples_plot_is_lines(const struct samples_plot *plot);
uint32_t samples_plot_map_rows(const struct samples_plot *plot);
/* "10 s", "1 min" ... */
const char *samples_plot_step(char to[static 24], int64_t step_ns);

#endif
