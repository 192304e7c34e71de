/*
 * series - the values of metrics in each time step, with units.
 *
 * Queries a source for buckets (proto/wire/buckets.h), takes the units from
 * the definitions of the metric groups, and adds what no bucket contains: the
 * interval between the last sample of an hour and the first of the next
 * (proto/record/counter_rate.h).  Memory holds one page and a few bytes for
 * each series (one metric of one metric group of one node).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SERIES_H
#define EXPORTERS_SAMPLES_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/record/counter_rate.h"

struct series; /* opaque */

struct series_query {
	struct text node, group, metric; /* patterns; empty: all */
	int64_t from_ns, to_ns;
	int64_t step_ns; /* rounded up to a step that divides an hour */
};

/* A bucket.  Texts are views, valid until series_close.  So is `number`, which
 * identifies the series: one for each node, group and metric (0, 1, 2 ...). */
struct series_point {
	uint32_t number;
	struct text node, group, metric, unit;
	struct text
	    rollup; /* "raw", "10s" ...: the data that the numbers come from */
	bool counter;
	int64_t begin_ns, end_ns;
	uint64_t count;
	struct counter_rate_sample first, last;
	double low,
	    high;        /* of a gauge; of a counter: of its rates per second */
	double mean;     /* NaN when no rate is known */
	double increase; /* growth of a counter */
	double seconds;  /* time for which the counter's rate is known */
};

/* Reads the definitions of the partition's metric groups. */
int series_open(struct series **series, struct source *source,
    struct text partition, struct err *err);
void series_close(struct series **series);

/* Start a query; its texts must live until the last series_next. */
int series_select(
    struct series *series, const struct series_query *query, struct err *err);

/* 1 and a point, in the order (hour, node, group, metric, time), 0 at the end,
 * -1 when the source failed or sent invalid data. */
int series_next(
    struct series *series, struct series_point *point, struct err *err);

/* The rank of a rollup: a coarser one has a greater rank; 0: not a rollup. */
unsigned series_rollup_rank(struct text rollup);

/* The times of the first and last record of a partition; -1 also when it has
 * none. */
int series_extent(struct source *source, struct text partition,
    int64_t *first_ns, int64_t *last_ns, struct err *err);

/* Round up to 100, 200, 500 ms, 1, 2, 5, 10, 20, 30 s, 1 ... 30 min, 1 h. */
int64_t series_fit_step(int64_t step_ns);
/* The smallest of these steps that divides the time into at most `steps`. */
int64_t series_step(int64_t from_ns, int64_t to_ns, uint32_t steps);

#endif
