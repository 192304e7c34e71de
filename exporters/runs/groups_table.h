/*
 * runs_groups_table - statistics of a group of runs, for a terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_TABLE_H
#define EXPORTERS_RUNS_GROUPS_TABLE_H

#include <stdio.h>

#include "exporters/runs/groups.h"

/* The heading of all tables. */
void runs_table_begin(
    const struct runs *runs, enum run_clock clock, FILE *file);
/* After an empty line: name, states, one row for each step, the number of runs
 * of each requestor, and the first of the unfinished runs. */
void runs_table_put(const struct runs *runs, const struct runs_group *group,
    enum run_clock clock, FILE *file);

#endif
