/*
 * usage_plot - plot nodes ordered by use.
 *
 * CPU hours of each node: used, unused while the node was busy, and unused in
 * idle hours.  Up to USAGE_BARS nodes are drawn as one bar each, most used
 * first; more are drawn over the rank of the nodes, each step being the mean
 * of the nodes in it.  The table has one line per bar or step: first rank,
 * last rank, node, used, unused, idle.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_USAGE_PLOT_H
#define EXPORTERS_SAMPLES_USAGE_PLOT_H

#include "exporters/plot/gnuplot.h"
#include "exporters/samples/usage.h"

enum { USAGE_BARS = 60, USAGE_STEPS = 240 };

/* Implements poolscope-plot usage; `picture` defines format and destination. */
int plot_usage(struct source *source, struct text partition,
    const struct time_window_options *options, const struct picture *picture,
    struct err *err);

#endif
