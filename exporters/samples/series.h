/*
 * series - what metrics were in each step of time, in units.
 *
 * Asks a source for buckets (proto/wire/buckets.h), knows from the
 * definitions of the sets which unit a number is in, and adds what no bucket
 * has: the interval between the last sample of an hour and the first of the
 * next (proto/record/counter_rate.h).  One page is in memory at a time, and
 * some bytes for each series: one metric of one set of one node.
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
	struct text node, set, metric; /* patterns; empty: all */
	int64_t from_ns, to_ns;
	int64_t step_ns; /* rounded up to one that divides an hour */
};

/* A bucket.  Texts are views, valid until series_close; so is `number`, which
 * the same node, set and metric always have (0, 1, 2 ...). */
struct series_point {
	uint32_t number;
	struct text node, set, metric, unit;
	struct text rollup; /* "raw", "10s" ...: what the numbers are from */
	bool counter;
	int64_t begin_ns, end_ns;
	uint64_t count;
	struct counter_rate_sample first, last;
	double low, high; /* gauge; counter: of its rates per second */
	double mean;      /* the same; NaN when no rate is known */
	double increase;  /* counter */
	double seconds;   /* counter: for which the rate is known */
};

/* Reads the definitions of the partition's sets. */
int series_open(struct series **series, struct source *source,
    struct text partition, struct err *err);
void series_close(struct series **series);

/* What to read next; the texts must live until the last series_next. */
int series_select(
    struct series *series, const struct series_query *query, struct err *err);

/* 1 and a point, in the order (hour, node, set, metric, time), 0 at the end,
 * -1 when the source failed or says what cannot be. */
int series_next(
    struct series *series, struct series_point *point, struct err *err);

/* Coarser rollups have a greater one; 0: not a rollup. */
unsigned series_rollup_rank(struct text rollup);

/* From when to when a partition has records; -1 also when it has none. */
int series_extent(struct source *source, struct text partition,
    int64_t *first_ns, int64_t *last_ns, struct err *err);

/* The next of 100, 200, 500 ms, 1, 2, 5, 10, 20, 30 s, 1 ... 30 min, 1 h. */
int64_t series_fit_step(int64_t step_ns);
/* The smallest of them that makes at most `steps` of the time. */
int64_t series_step(int64_t from_ns, int64_t to_ns, uint32_t steps);

#endif
