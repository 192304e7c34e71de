/*
 * scanner_stats_command - time budget of a profiled Scanner job.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SCANNER_STATS_COMMAND_H
#define EXPORTERS_TRACE_SCANNER_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/source/source.h"
#include "exporters/stats/stats_format.h"

/* JSON has the format of the older tool: one sum for all workers, seconds as
 * text, the interval of the last worker.  `fixed` adds numbers, each node, and
 * the interval of the job itself; other formats always have these. */
int stats_scanner(struct source *source, struct text partition, const char *job,
    const struct order *order, enum stats_format format, bool fixed, FILE *file,
    struct err *err);

/* What the rows of the table and of CSV can be sorted by. */
extern const char *const stats_scanner_columns[];

#endif
