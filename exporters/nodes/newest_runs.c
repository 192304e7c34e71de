/*
 * newest_runs - the newest runs of a model, with the durations of their steps.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/newest_runs.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/runs/runs.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

static void
take(struct newest_runs *newest, const struct runs *runs,
    const struct runs_run *run)
{
	struct newest_run *to = &newest->at[newest->count++];
	int64_t ns;

	*to = (struct newest_run){
		.id = string_table_keep(&newest->texts, run->id),
		.group = string_table_keep(&newest->texts, run->group),
		.state = run->state,
		.is_error = run->error,
		.begin_ns = run->has_time ? run->time_ns : INT64_MIN,
	};
	for (uint32_t i = 0; i < newest->step_count; i++)
		to->steps[i] = runs_total(run, &runs->steps[i], RUN_EMIT, &ns)
				   ? (double)ns / (double)NS_PER_SECOND
				   : NAN;
}

static int
read_runs(struct newest_runs *newest, struct runs *runs, uint32_t most,
    struct err *err)
{
	struct text all = { NULL, 0 };
	struct runs_run *run;
	int rc;

	while (newest->step_count < runs->step_count &&
	       newest->step_count < NEWEST_STEPS_MAX) {
		newest->steps[newest->step_count] = string_table_keep(
		    &newest->texts, runs->steps[newest->step_count].name);
		newest->step_count++;
	}
	if (runs_select(runs, all, all, err) != 0)
		return -1;
	newest->at = memory_zero(most, sizeof(*newest->at));
	run = memory_alloc(sizeof(*run)); /* some 50 KB */
	while ((rc = runs_next(runs, run, err)) > 0)
		if (newest->count < most)
			take(newest, runs, run);
	free(run);
	return rc;
}

int
newest_runs_read(struct newest_runs *newest, struct source *source,
    struct text partition, const char *model, uint32_t most, struct err *err)
{
	const struct runs_options options = { .model = model,
		.time = RUN_EMIT,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.newest = most };
	struct runs *runs = memory_zero(1, sizeof(*runs));
	bool had_failed = source_has_failed(source);
	int rc = runs_open(runs, source, partition, &options, err);

	newest_runs_init(newest);
	if (rc == 0)
		rc = read_runs(newest, runs, most, err);
	else if (had_failed || !source_has_failed(source))
		rc = 0; /* it has none */
	runs_clear(runs);
	free(runs);
	return rc;
}

void
newest_runs_init(struct newest_runs *newest)
{
	*newest = (struct newest_runs){ .count = 0 };
	string_table_init(&newest->texts);
}

void
newest_runs_clear(struct newest_runs *newest)
{
	free(newest->at);
	string_table_clear(&newest->texts);
	*newest = (struct newest_runs){ .count = 0 };
}
