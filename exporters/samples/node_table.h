/*
 * samples_node_table - metrics of many nodes in equal time steps, as pictures
 * need them: one row for each node, one cell for each step.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_NODE_TABLE_H
#define EXPORTERS_SAMPLES_NODE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "proto/hash/string_table.h"

enum {
	SAMPLES_STEPS = 360, /* a picture can show this many */
	/* Of many nodes it shows fewer, which have at most this many cells, so
	 * that the cost hardly grows with the nodes. */
	SAMPLES_STEPS_FEW = 60,
	SAMPLES_CELLS = 600000,
	SAMPLES_STEPS_MAX = 4096,     /* with --step */
	SAMPLES_CELLS_MAX = 12 << 20, /* of 24 bytes, in all pictures */
	SAMPLES_PICTURES_MAX = 24,
	SAMPLES_LINES = 12, /* nodes with a line each; more share a map */
};

/* NaN: no value. */
struct samples_cell {
	double low, mean, high;
};

/* One metric of one metric group, in a readable unit (unit.h), which is NULL if
 * it is unknown. */
struct samples_metric {
	struct text group, name, unit, labels,
	    rollup;   /* rollup: the coarsest one used */
	bool counter; /* the cells are its rates */
	struct samples_row {
		struct text node;
		struct samples_cell *cells;
	} * rows; /* in natural order of their names when finished */
	uint32_t count, room;
	/* When finished: how many of them each step has a value of, and the
	 * most that a step has. */
	uint32_t *known, most;
	/* Of a counter: how often its samples are N steps apart. */
	uint64_t *gaps, gap_count;
};

struct samples {
	int64_t from_ns, step_ns;
	uint32_t steps;
	struct samples_metric *metrics;
	uint32_t count;
	uint64_t cells;
	struct cpus *cpus;    /* of unit_of_point; NULL: not read */
	struct samples_slot { /* indexed by the number of the series */
		struct samples_cell *cells;
		uint32_t metric;
		bool scale_changes; /* with time */
		double scale;       /* of its unit, if it does not change */
		uint32_t sampled; /* of a counter: 1 + the last step that has a
				     sample */
	} * slots;
	uint32_t slot_room;
	char clock[SOURCE_CLOCK_WORDS]; /* words for the clock of the times */
	struct string_table
	    texts; /* call string_table_init before the first read */
};

/* Read `samples` from `from_ns` on, in steps of the query.  With `jobs` only
 * the nodes and times of these jobs.  -1 also when there is too much or
 * nothing. */
int samples_read(struct samples *samples, struct series *series,
    const struct series_query *query, const struct job_intervals *job_intervals,
    struct err *err);
/* Call it after the last read, for one metric at a time: sorts the rows, makes
 * the steps as wide as the usual gap between samples, their median (the rate of
 * a counter is known in each step between two), and lets a value hold until the
 * next one where that follows within two usual gaps there: what is empty
 * then is an outage. */
void samples_finish(struct samples *samples);
/* Has the step values of fewer than half as many nodes as another one?  What
 * the others had is unknown: it says nothing of the pool. */
bool samples_step_is_few(const struct samples_metric *metric, uint32_t step);
void samples_clear(struct samples *samples);

#endif
