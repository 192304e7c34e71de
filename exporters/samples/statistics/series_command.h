/*
 * stats_series - metrics over time, in equal steps: a line for each node, or
 * how the nodes are distributed.
 *
 * The numbers are those of the pictures of samples.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_STATISTICS_SERIES_COMMAND_H
#define EXPORTERS_SAMPLES_STATISTICS_SERIES_COMMAND_H

#include <stdio.h>

#include "exporters/samples/time_window.h"
#include "exporters/stats/stats_format.h"

enum {
	STATS_SERIES_LINES = 50, /* of each metric */
	STATS_SERIES_METRICS = 8,
};

enum stats_series_as {
	STATS_SERIES_AUTO,
	STATS_SERIES_LINE,
	STATS_SERIES_BAND
};

/* Without `as`: lines of few nodes, bands of many.  -1 also when no metric is
 * given, or there are no samples. */
int stats_series(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, enum stats_series_as as,
    enum stats_format format, FILE *file, struct err *err);

#endif
