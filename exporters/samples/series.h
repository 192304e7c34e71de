/*
 * series - the values of metrics in each time step, with units.
 *
 * Queries a source for buckets (proto/wire/buckets.h) and takes the units from
 * the definitions of the metric groups.
 *
 * A gauge counts where it was sampled: in the window from_ns <= time < to_ns.
 * A counter counts over the interval that it was measured in, from one sample
 * to the next, evenly: an interval that the window or a step cuts counts for
 * the part that lies in it.  Therefore the samples next to the window, up to an
 * hour away, are read too, and windows that follow each other add up to the
 * whole. Between samples more than that apart a counter is counted only where
 * both are known.
 *
 * Memory holds one page and a few bytes for each series (one metric of one
 * metric group of one node).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SERIES_H
#define EXPORTERS_SAMPLES_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/base/nearest.h"

struct series; /* opaque */

struct series_query {
	/* Patterns; of metrics several with a blank between them; empty:
	 * all. */
	struct text node, group, metric;
	int64_t from_ns, to_ns;
	int64_t step_ns; /* rounded up as by series_fit_step */
	/* Nothing is shown before from_ns, or from to_ns on: the hours next to
	 * the window need not be read. */
	bool nothing_before, nothing_behind;
	/* Counters as the intervals between samples, or between the first and
	 * the last one of a step, instead of whole steps. */
	bool intervals;
	/* With intervals: a counter with samples in the window, but without
	 * an interval, is a point of count 0. */
	bool single;
};

/* A step or an interval.  Texts are views, valid until series_close.  So is
 * `number`, which identifies the series: one for each node, group and metric
 * (0, 1, 2 ...). */
struct series_point {
	uint32_t number;
	struct text node, group, metric, unit;
	struct text labels; /* of the group, JSON; empty: none */
	struct text rollup; /* "raw", "1min", "1h": the data that the numbers
			       come from */
	bool counter;
	int64_t begin_ns, end_ns; /* an interval is cut by the window */
	/* Samples; an interval: before it was cut; a step of a counter: the
	 * part of it in which its rate is known. */
	int64_t first_ns, last_ns;
	struct value last; /* of a gauge: of the last sample */
	uint64_t count;    /* samples */
	double low,
	    high;        /* of a gauge; of a counter: of its rates per second */
	double mean;     /* NaN when no rate is known */
	double increase; /* growth of a counter */
	double seconds;  /* time for which the counter's rate is known */
	bool booted;     /* an interval: the node, between its samples */
};

/* `seconds` as the whole nanoseconds that they come from: a sum of them does
 * not depend on the steps. */
static inline uint64_t
series_point_ns(const struct series_point *point)
{
	double ns = point->seconds * 1e9;

	return ns > 0 && ns < 0x1p64 ? (uint64_t)(ns + 0.5) : 0;
}

/* series_open will follow (source_ahead). */
void series_ahead(struct source *source, struct text partition);
/* Reads the definitions of the partition's metric groups. */
int series_open(struct series **series, struct source *source,
    struct text partition, struct err *err);
void series_close(struct series **series);

/* Start a query; its texts must live until the last series_next. */
int series_select(
    struct series *series, const struct series_query *query, struct err *err);

/* Give up the memory of all series that were seen: their numbers begin again at
 * 0. */
void series_forget(struct series *series);

/* 1 and a point, of each series in the order of time, 0 at the end, -1 when the
 * source failed or sent invalid data. */
int series_next(
    struct series *series, struct series_point *point, struct err *err);

/* Offer the names of all metrics (`is_group`: of all metric groups). */
void series_offer(
    const struct series *series, bool is_group, struct nearest *nearest);

/* The rank of a rollup: a coarser one has a greater rank; 0: not a rollup. */
unsigned series_rollup_rank(struct text rollup);

struct series_extent {
	int64_t first_ns, last_ns; /* times of the first and last record */
	int64_t nodes;             /* how many there are; 0: unknown */
};

/* Of a partition; -1 also when it has no records. */
int series_extent(struct source *source, struct text partition,
    struct series_extent *extent, struct err *err);

/* Round up to 100, 200, 500 ms, 1, 2, 5, 10, 20, 30 s, 1 ... 30 min, 1 h. */
int64_t series_fit_step(int64_t step_ns);
/* The smallest of these steps that divides the time into at most `steps`. */
int64_t series_step(int64_t from_ns, int64_t to_ns, uint32_t steps);

#endif
