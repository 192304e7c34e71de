/*
 * runs_groups_report - the numbers of groups of runs, as JSON, CSV or tables.
 *
 * JSON is an object by group, its keys sorted; runs without a group are "",
 * those that nobody described "(unknown)", where their ids are listed, too.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_REPORT_H
#define EXPORTERS_RUNS_GROUPS_REPORT_H

#include <stdio.h>

#include "exporters/runs/groups.h"
#include "exporters/stats/phases.h"

/* Read and print those like `pattern`; a table is of one clock. -1 also when
 * there is none. */
int runs_report(struct runs *runs, struct text pattern, enum run_clock clock,
    enum stats_format format, FILE *file, struct err *err);

#endif
