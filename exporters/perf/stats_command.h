/*
 * perf_stats_command - the eighteen numbers of each node, or its reports.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PERF_STATS_COMMAND_H
#define EXPORTERS_PERF_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/perf/read.h"
#include "exporters/stats/phases.h"
#include "proto/config/opt.h"

/* --now, --cpu-count, --decimate and what else only this has. */
extern const struct opt stats_perf_options[];

/* What they let it write. */
void stats_perf_sandbox(struct sandbox *sandbox);
/* Wrong use of them ends the program. */
void stats_perf_check(void);

/* Read and print.  -1 also when there is no report at all, or with `strict`
 * when a node has none. */
int stats_perf(const struct perf_select *select, enum stats_format format,
    bool strict, FILE *file, struct err *err);

#endif
