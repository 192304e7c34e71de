/*
 * runs_groups_report - statistics of groups of runs, as JSON, CSV or tables.
 *
 * JSON is an object whose members are the groups, sorted by name.  Runs
 * without a group are in "", runs without a description in "(unknown)", which
 * also lists their ids.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_REPORT_H
#define EXPORTERS_RUNS_GROUPS_REPORT_H

#include <stdio.h>

#include "exporters/runs/groups.h"
#include "exporters/select/order.h"
#include "exporters/stats/stats_format.h"

/* Read and print the groups that match `pattern`; a table shows one clock.
 * `order` is for the table and CSV.  -1 also when there are none. */
int runs_report(struct runs *runs, struct text pattern, enum run_clock clock,
    const struct order *order, enum stats_format format, FILE *file,
    struct err *err);

/* What groups can be sorted by. */
extern const char *const runs_report_columns[];

#endif
