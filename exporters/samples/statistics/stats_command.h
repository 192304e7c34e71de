/*
 * stats_samples - minimum, mean, quantiles and maximum of metrics.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_STATISTICS_STATS_COMMAND_H
#define EXPORTERS_SAMPLES_STATISTICS_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/samples/time_window.h"
#include "exporters/select/order.h"
#include "exporters/stats/stats_format.h"

/* Print a row for each metric of each metric group, and of each node if
 * `by_node`.  -1 also when there are no values. */
int stats_samples(struct source *source, struct text partition,
    const struct metric_options *options,
    const struct time_window_options *window, bool by_node,
    const struct order *order, enum stats_format format, FILE *file,
    struct err *err);

#endif
