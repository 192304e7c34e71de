/*
 * samples_plot - the picture of one metric.
 *
 * Up to SAMPLES_LINES nodes: one line for each node with the mean of each
 * step; for few nodes also the range from minimum to maximum.  More nodes: a
 * band over all nodes from minimum to maximum with the median, and below it a
 * map of nodes and time.  A row of the map is one node; with more than
 * SAMPLES_MAP_ROWS nodes, the greatest of several.
 *
 * The table has two parts, separated by an empty line or two (index 0, 1 of
 * gnuplot).  For lines each node has one part, `time mean low high`; else
 * `time least median greatest nodes few` and then the map, one line for each
 * row; few is 1 where samples_step_is_few.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_PLOT_H
#define EXPORTERS_SAMPLES_PLOT_H

#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "exporters/samples/node_table.h"

enum { SAMPLES_MAP_ROWS = 200 };

struct samples_plot {
	const struct samples *samples;
	const struct samples_metric *metric;
	struct text partition;
	struct job_options jobs;
};

/* For struct picture; its argument is a struct samples_plot. */
void samples_plot_table(const void *what, FILE *file);
void samples_plot_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

/* "10 s", "1 min" ... */
const char *samples_plot_step(char to[static 24], int64_t step_ns);

#endif
