/*
 * runs_charts - the durations of a step day by day, and the errors of groups:
 * put_table and put_script of two pictures.
 *
 * Days: covers all iterations of the step in runs whose first event was emitted
 * on a day (UTC): minimum, median, p90 and maximum, exact; quantiles by
 * proto/base/quantile.h.  One step is in memory at a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_CHARTS_H
#define EXPORTERS_RUNS_CHARTS_H

#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "exporters/runs/groups.h"
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

/* The number of runs with an error in each group. */

struct runs_errors {
	const struct runs *runs;
	struct runs_error {
		struct text group; /* empty: runs without a group */
		int64_t runs, ended, errors;
		double of_ended, of_all; /* percent */
	} * rows; /* sorted by errors in percent of the ended runs, highest
		     first; then by name */
	uint32_t count, room;
	struct string_table texts;
};

/* Read the groups that match `pattern` (empty: all).  -1 also when there are
 * none.  Clear it in any case. */
int runs_errors_read(struct runs_errors *errors, struct runs *runs,
    struct text pattern, struct err *err);
void runs_errors_clear(struct runs_errors *errors);

void runs_errors_table(const void *errors, FILE *file);
void runs_errors_script(const void *errors, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif
