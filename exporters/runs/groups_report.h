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
#include "exporters/stats/phases.h"

/* Read and print the groups that match `pattern`; a table shows one clock.  -1
 * also when there are none. */
int runs_report(struct runs *runs, struct text pattern, enum run_clock clock,
    enum stats_format format, FILE *file, struct err *err);

#endif
