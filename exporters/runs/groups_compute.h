/*
 * runs_groups_compute - statistics of groups, computed from their runs.
 *
 * The store has those of all time, by the stored times.  Those of a window, and
 * those on corrected clocks, are computed here, with the same definitions and
 * exact quantiles (proto/base/quantile.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_GROUPS_COMPUTE_H
#define EXPORTERS_RUNS_GROUPS_COMPUTE_H

#include "exporters/runs/groups.h"

/* As runs_groups_each, of the window and on the clocks of `runs`. */
int runs_groups_compute(struct runs *runs, struct text pattern,
    int (*put)(void *arg, const struct runs_group *group, struct err *err),
    void *arg, uint32_t *count, struct err *err);

#endif
