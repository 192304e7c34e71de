/*
 * runs_run_table - one row for each run: the durations of its steps, or the
 * number of each of its events, or its state.
 *
 * JSON: one object with a member for each run, each on a line: by step the
 * list of its durations in seconds (exact decimals), or by event the number.
 * CSV: one row for each duration, or for each event.  Table: one row for each
 * run, each step the sum of its iterations.
 *
 * RUNS_LIST is a row for each run in every format, in JSON an array of objects,
 * which have the durations of the steps as well.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUN_TABLE_H
#define EXPORTERS_RUNS_RUN_TABLE_H

#include <stdio.h>

#include "exporters/runs/run_order.h"
#include "exporters/select/ordered_rows.h"
#include "exporters/stats/stats_format.h"
#include "proto/stream/byte_stream.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"

struct runs_rows {
	const struct runs *runs;
	enum runs_rows_what what;
	enum stats_format format;
	enum run_clock clock;
	const struct order *order; /* NULL, or of CSV or the table */
	FILE *file;
	struct byte_stream byte_stream; /* JSON */
	struct csv csv;
	struct table table;
	struct table_column columns[RUN_STEPS_MAX + 2];
	/* JSON: `"flash":[` of each step, `"request":` of each event. */
	struct string_table texts;
	struct text keys[RUN_ROLES_MAX];
	struct ordered_rows ordered;
	uint64_t count;
	uint64_t unnamed;        /* events that are counted as RUNS_OTHERS */
	struct runs_doubt doubt; /* of durations by the times of receipt */
};

/* The caller closes the file.  After a begin call, the end call must follow. */
int runs_rows_begin(struct runs_rows *rows, struct err *err);
int runs_rows_put(
    struct runs_rows *rows, const struct runs_run *run, struct err *err);
/* `whole`: all was printed; else the output shows that it is incomplete. */
int runs_rows_end(struct runs_rows *rows, bool whole, struct err *err);

#endif
