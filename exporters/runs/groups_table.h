/*
 * runs_groups_table - the numbers of a group of runs, for a terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_TABLE_H
#define EXPORTERS_RUNS_GROUPS_TABLE_H

#include <stdio.h>

#include "exporters/runs/groups.h"

/* What stands over all of them. */
void runs_table_begin(
    const struct runs *runs, enum run_clock clock, FILE *file);
/* Behind an empty line: name, states, a row a step, who requested how many,
 * and the first of the runs that are not over. */
void runs_table_put(const struct runs *runs, const struct runs_group *group,
    enum run_clock clock, FILE *file);

#endif
