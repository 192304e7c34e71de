/*
 * samples_node_table - metrics of many nodes side by side in steps of time, as
 * pictures want them: a row a node, a cell a step. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_NODE_TABLE_H
#define EXPORTERS_SAMPLES_NODE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/samples/job_intervals.h"
#include "exporters/samples/series.h"
#include "proto/hash/string_table.h"

enum {
	SAMPLES_STEPS = 360,          /* that a picture shows well */
	SAMPLES_STEPS_MAX = 4096,     /* with --step */
	SAMPLES_CELLS_MAX = 12 << 20, /* of 12 bytes, in all pictures */
	SAMPLES_PICTURES_MAX = 24,
};

/* NaN: nothing is known. */
struct samples_cell {
	float low, mean, high;
};

/* One metric of one set, in a unit for people (seconds, not centiseconds). */
struct samples_metric {
	struct text set, name, unit, rollup; /* rollup: the coarsest of all */
	bool counter;                        /* the cells are per second */
	struct samples_row {
		struct text node;
		struct samples_cell *cells;
	} * rows; /* by name, once finished */
	uint32_t count, room;
};

struct samples {
	int64_t from_ns, step_ns;
	uint32_t steps;
	struct samples_metric *metrics;
	uint32_t count;
	uint64_t cells;
	struct samples_place { /* by the number of the series */
		struct samples_cell *cells;
		uint32_t metric;
	} * places;
	uint32_t place_room;
	char clock[SOURCE_CLOCK_WORDS]; /* which one the times are on */
	struct string_table
	    texts; /* string_table_init before the first reading */
};

/* Fill `samples` from `from_ns` on, in steps of the query's.  With `jobs` only
 * where and when these ran.  -1 also when there is too much or nothing. */
int samples_read(struct samples *samples, struct series *series,
    const struct series_query *query, const struct job_intervals *job_intervals,
    struct err *err);
/* After all were read, of one metric at a time: rows by name, and steps wider
 * when the samples are further apart than these, so that lines hold together.
 */
void samples_finish(struct samples *samples);
void samples_clear(struct samples *samples);

#endif
