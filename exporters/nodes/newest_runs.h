/*
 * newest_runs - the newest runs of a model, with the durations of their steps.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_NEWEST_RUNS_H
#define EXPORTERS_NODES_NEWEST_RUNS_H

#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"
#include "proto/record/run.h"

enum { NEWEST_STEPS_MAX = 12 };

struct newest_run {
	struct text id, group;
	enum run_state state;
	bool is_error;
	int64_t begin_ns; /* INT64_MIN: unknown */
	/* Seconds, iterations added up; NaN: it does not have the step. */
	double steps[NEWEST_STEPS_MAX];
};

struct newest_runs {
	struct string_table texts;
	struct text steps[NEWEST_STEPS_MAX]; /* names */
	uint32_t step_count;
	struct newest_run *at; /* the newest first */
	uint32_t count;
};

/* Read at most `most` runs.  A partition without runs has none.  Clear it in
 * any case. */
int newest_runs_read(struct newest_runs *newest, struct source *source,
    struct text partition, const char *model, uint32_t most, struct err *err);
void newest_runs_init(struct newest_runs *newest);
void newest_runs_clear(struct newest_runs *newest);

#endif
