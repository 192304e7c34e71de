/*
 * runs_days_plot - the duration of a step, day by day: put_table and
 * put_script of a picture.
 *
 * Covers all iterations of the step in runs whose first event was emitted on a
 * day (UTC): minimum, median, p90 and maximum, exact; quantiles by
 * proto/base/quantile.h.  One step is in memory at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_DAYS_PLOT_H
#define EXPORTERS_RUNS_DAYS_PLOT_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/runs/runs.h"

struct runs_day {
	int64_t day; /* since 1970 */
	uint32_t count;
	double least, p50, p90, greatest; /* seconds */
};

struct runs_days {
	struct runs *runs; /* The caller sets these four; the rest is zero. */
	struct text group; /* pattern */
	enum run_clock clock;
	const struct runs_step *step;

	struct runs_doubt doubt; /* of durations by the times of receipt */
	struct runs_day *days;
	uint32_t count;
	struct runs_value {
		int64_t day, ns;
	} * values;
	uint32_t value_count, value_room;
};

/* Call it once for each step. */
int runs_days_read(struct runs_days *days, struct err *err);
void runs_days_clear(struct runs_days *days);

void runs_days_table(const void *days, FILE *file);
void runs_days_script(const void *days, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif
