/*
 * stats_clocks - the last reported clock offset of each node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_CLOCKS_H
#define EXPORTERS_STATS_CLOCKS_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

/* Print one row for each node, sorted by name; `query` selects nodes and times
 * (on their clocks).  -1 also when no node has reported an offset. */
int stats_clocks(struct source *source, struct text partition,
    const struct wire_query *query, const struct order *order,
    enum stats_format format, FILE *file, struct err *err);
/* What they can be sorted by. */
extern const char *const stats_clocks_columns[];

#endif
