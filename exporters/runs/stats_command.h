/*
 * runs_stats_command - the statistics of test runs: the durations of their
 * steps, the number of repetitions, the sums of each group, and the delays of
 * their events.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_STATS_COMMAND_H
#define EXPORTERS_RUNS_STATS_COMMAND_H

#include <stdio.h>

#include "exporters/runs/runs.h"
#include "exporters/select/order.h"
#include "exporters/stats/stats_format.h"
#include "proto/config/opt.h"

/* Check the arguments after "testrun"; exits on a usage error.  Steps and
 * events, by which rows of runs can be sorted, are known later. */
void stats_testrun_check(const struct runs_options *options,
    const struct opt_operands *operands, struct text node, struct order *order,
    enum stats_format format);

/* Read and print; `node` is for the skew. */
int stats_testrun(struct source *source, struct text partition,
    const struct runs_options *options, const struct opt_operands *operands,
    struct text node, const struct order *order, enum stats_format format,
    FILE *file, struct err *err);

#endif
