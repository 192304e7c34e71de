/*
 * scanner_stats_command - where the time of a profiled job of Scanner went.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SCANNER_STATS_COMMAND_H
#define EXPORTERS_TRACE_SCANNER_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/stats/phases.h"

/* As JSON it is what the older tool gave: all workers together, seconds as
 * text, the time of the last worker.  With `fixed` numbers, each node, and the
 * job's own interval; other formats are that always. */
int stats_scanner(struct source *source, struct text partition, const char *job,
    enum stats_format format, bool fixed, FILE *file, struct err *err);

#endif
