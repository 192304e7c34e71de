/*
 * runs_clock_skew - delay between emission and receipt of the events of test
 * runs, by node and event: shows slow transport and wrong clocks.
 *
 * Computed from the events.  The time of receipt is the attribute receive_ns
 * of an event, or the time at which the aggregator received it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_CLOCK_SKEW_H
#define EXPORTERS_RUNS_CLOCK_SKEW_H

#include "exporters/runs/runs.h"

struct runs_skew_row {
	struct text node, event;
	uint64_t count, negative; /* received before emission */
	int64_t min_ns, max_ns;
	__int128 sum_ns;
	long double mean, squares; /* squared differences from the mean */
};

struct runs_skew {
	struct string_table texts, row_keys; /* row index by "node\0role" */
	struct runs_skew_row *rows;
	uint32_t count, room;
};

/* Read the events of nodes that match `node` (empty: all).  -1 also when there
 * are none.  The caller zeroes it before, and clears it in any case. */
int runs_skew_read(struct runs_skew *skew, struct runs *runs, struct text node,
    struct err *err);
void runs_skew_clear(struct runs_skew *skew);

/* In seconds; NaN: one delay is no sample. */
double runs_skew_mean(const struct runs_skew_row *row);
double runs_skew_deviation(const struct runs_skew_row *row, bool sample);

#endif
