/*
 * stats_phases - statistics of every phase: of all time, as the aggregator
 * computes them, or of those that begin in a window.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_PHASES_H
#define EXPORTERS_STATS_PHASES_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

/* What they can be sorted by. */
extern const char *const stats_phases_columns[];

/* Query and print the statistics; `query` selects nodes, phases and the
 * window.  -1 also when there are none. */
int stats_phases(struct source *source, struct text partition,
    const struct wire_query *query, bool by_node, const struct order *order,
    enum stats_format format, FILE *file, struct err *err);

#endif
