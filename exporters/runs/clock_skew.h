/*
 * runs_clock_skew - how much later than emitted the events of runs were
 * received, by node and event: slow transport, and clocks that are wrong.
 *
 * From the events themselves; received is the attribute receive_ns where an
 * event has it, else when the aggregator had it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_CLOCK_SKEW_H
#define EXPORTERS_RUNS_CLOCK_SKEW_H

#include "exporters/runs/runs.h"

enum { RUNS_SKEW_ROWS_MAX = 1 << 20 };

struct runs_skew_row {
	struct text node, event;
	uint64_t count, negative; /* received before it was emitted */
	int64_t min_ns, max_ns;
	__int128 sum_ns;
	long double mean, squares; /* of the differences from the mean */
};

struct runs_skew {
	struct string_table texts, places; /* places: "node\0role" */
	struct runs_skew_row *rows;
	uint32_t count, room;
};

/* Of all nodes like `node` (empty: all).  -1 also when there is no event.
 * Zeroed by the caller; clear it in any case. */
int runs_skew_read(struct runs_skew *skew, struct runs *runs, struct text node,
    struct err *err);
void runs_skew_clear(struct runs_skew *skew);

/* Seconds. */
double runs_skew_mean(const struct runs_skew_row *row);
double runs_skew_deviation(const struct runs_skew_row *row, bool sample);

/* The row of a node's event; a new one when it was never seen. */
int runs_skew_add(struct runs_skew *skew, struct text node, uint32_t role,
    struct text event, int64_t skew_ns, struct err *err);

#endif
