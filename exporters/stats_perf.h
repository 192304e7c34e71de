/*
 * stats_perf - the eighteen numbers of each node, or its reports.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_PERF_H
#define EXPORTERS_STATS_PERF_H

#include <stdio.h>

#include "exporters/perf_read.h"
#include "exporters/stats_phases.h"
#include "proto/opt.h"

/* --now, --cpu-count, --thin and what else only this has. */
extern const struct opt stats_perf_options[];

/* What they let it write. */
void stats_perf_fence(struct fence *fence);
/* Wrong use of them ends the program. */
void stats_perf_check(void);

/* Read and print.  -1 also when there is no report at all, or with `strict`
 * when a node has none. */
int stats_perf(const struct perf_select *select, enum stats_format format,
    bool strict, FILE *file, struct err *err);

#endif
