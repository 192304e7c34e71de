/*
 * stats_phases - the statistics of every phase, as the store keeps them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_PHASES_H
#define EXPORTERS_STATS_PHASES_H

#include <stdio.h>

#include "exporters/source/source.h"

enum stats_format { STATS_TABLE, STATS_JSON, STATS_JSONL, STATS_CSV };

/* Read and print them; `query` narrows nodes and phases.  -1 also when there
 * is none. */
int stats_phases(struct source *source, struct text partition,
    const struct wire_query *query, bool by_node, enum stats_format format,
    FILE *file, struct err *err);

#endif
