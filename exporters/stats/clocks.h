/*
 * stats_clocks - how far the clocks of nodes are off, as they said last.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_CLOCKS_H
#define EXPORTERS_STATS_CLOCKS_H

#include <stdio.h>

#include "exporters/stats/phases.h"

/* A row a node, by name; `query` narrows nodes and times (of their clocks).
 * -1 also when no node has said anything. */
int stats_clocks(struct source *source, struct text partition,
    const struct wire_query *query, enum stats_format format, FILE *file,
    struct err *err);

#endif
