/*
 * runs_groups_window - statistics of groups of the runs that began in a window.
 *
 * The store has those of all time.  Of a window they are computed from its
 * runs, with the same definitions, and exact quantiles.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_WINDOW_H
#define EXPORTERS_RUNS_GROUPS_WINDOW_H

#include "exporters/runs/groups.h"

/* As runs_groups_each, of the window of `runs`. */
int runs_groups_window(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err);

#endif
