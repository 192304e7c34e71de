/*
 * run_order - what the rows of runs can be sorted by: "run", "group", and the
 * name of a step (all its iterations added up), or "events" and the name of an
 * event of the model.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_RUN_ORDER_H
#define EXPORTERS_RUNS_RUN_ORDER_H

#include "exporters/runs/runs.h"
#include "exporters/select/order.h"

enum runs_rows_what { RUNS_DELTAS, RUNS_ITERATIONS, RUNS_LIST };

struct run_order {
	int column; /* -1: not sorted */
	const struct runs *runs;
	enum runs_rows_what what;
	enum run_clock clock; /* of steps */
};

/* Find the column.  -1: the sentence has those that exist. */
int run_order_find(struct order *order, const struct runs *runs,
    enum runs_rows_what what, struct err *err);

/* A view of the run. */
struct order_key run_order_key(
    const struct run_order *order, const struct runs_run *run);

#endif
