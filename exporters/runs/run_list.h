/*
 * run_list - one row for each run: group, state, when it began.
 *
 * Written by run_table.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUN_LIST_H
#define EXPORTERS_RUNS_RUN_LIST_H

#include "exporters/runs/runs.h"
#include "proto/format/csv.h"
#include "proto/format/table.h"
#include "proto/stream/byte_stream.h"

enum { RUN_LIST_COLUMNS = 6 };

/* Up to the durations of the steps, which the caller writes. */
void run_list_put_json(struct byte_stream *to, const struct runs_run *run);

void run_list_titles(struct csv *csv);
void run_list_put_csv(struct csv *csv, const struct runs_run *run);

/* `columns` must live as long as the table. */
void run_list_begin(struct table *table, struct text partition,
    struct table_column columns[static RUN_LIST_COLUMNS], FILE *file);
void run_list_put_table(struct table *table, const struct runs_run *run);

#endif
