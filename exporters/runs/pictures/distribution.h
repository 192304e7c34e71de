/*
 * runs_distribution - how long the steps of test runs took: a row for each
 * step (exporters/gnuplot/boxes.h), in the order of the model.
 *
 * Covers all iterations of the step in runs with events, as runs_days does.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PICTURES_DISTRIBUTION_H
#define EXPORTERS_RUNS_PICTURES_DISTRIBUTION_H

#include "exporters/gnuplot/boxes.h"
#include "exporters/runs/runs.h"

struct runs_distribution {
	struct boxes boxes;
	char title[256];
};

/* Of the groups that match `group` (a pattern, or empty); there may be no rows.
 * Clear it in any case. */
int runs_distribution_read(struct runs_distribution *distribution,
    struct runs *runs, struct text group, enum run_clock clock,
    struct err *err);
void runs_distribution_clear(struct runs_distribution *distribution);

#endif
