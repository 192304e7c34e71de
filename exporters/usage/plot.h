/*
 * usage_plot - nodes ordered by use.
 *
 * Hours of processors: used, unused while the node was at work, and of hours
 * in which it was idle.  Up to USAGE_BARS nodes a bar each, most used first;
 * more: the same over the rank of the nodes, each step the mean of as many as
 * it takes.  The table has a line a bar or step:
 * first rank, last rank, node, used, unused, idle.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_USAGE_PLOT_H
#define EXPORTERS_USAGE_PLOT_H

#include "exporters/gnuplot/picture.h"
#include "exporters/usage/usage.h"

enum { USAGE_BARS = 60, USAGE_STEPS = 240 };

/* What poolscope-plot usage is asked for; `picture` says where and how. */
int plot_usage(struct source *source, struct text partition,
    const struct time_window_options *options, const struct picture *picture,
    struct err *err);

#endif
