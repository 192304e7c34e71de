/*
 * runs_stats_command - the runs of a farm: how long their steps took, how often
 * they were repeated, what that comes to in each group, and how late events
 * were received.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_STATS_COMMAND_H
#define EXPORTERS_RUNS_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/runs/runs.h"
#include "exporters/stats/phases.h"
#include "proto/config/opt.h"

/* What stands behind "testrun": wrong use ends the program. */
void stats_testrun_check(const struct runs_options *options,
    const struct opt_operands *operands, struct text node,
    enum stats_format format);

/* Read and print; `node` narrows the skew. */
int stats_testrun(struct source *source, struct text partition,
    const struct runs_options *options, const struct opt_operands *operands,
    struct text node, enum stats_format format, FILE *file, struct err *err);

#endif
