/*
 * series_private - shared by the parts of series.
 *
 *     series          from the records of a source to points
 *     series_counter  counters: what they did between two samples, in steps
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SERIES_PRIVATE_H
#define EXPORTERS_SAMPLES_SERIES_PRIVATE_H

#include "exporters/samples/columns.h"
#include "exporters/samples/joined.h"
#include "exporters/samples/series.h"
#include "exporters/samples/series_merge.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"
#include "proto/wire/buckets.h"

#define HOUR_NS (INT64_C(3600) * NS_PER_SECOND)

/* What a counter did between two samples, spread evenly over the time between
 * them; without a known rate (seconds 0), too. */
struct series_interval {
	int64_t begin_ns, end_ns;
	bool booted; /* the node, between them */
	double increase, seconds;
	double low, high; /* rates; NaN: unknown */
	uint64_t count;   /* samples at its end */
};

/* A step of a counter that later intervals may still add to. */
struct series_cell {
	bool used;
	int64_t begin_ns;
	int64_t first_ns, last_ns; /* of what is measured in it */
	double increase, seconds;
	double known; /* the increase in these seconds */
	double low, high;
	uint64_t count;
};

/* One metric of one metric group of one node. */
struct one {
	struct text node, group, metric, unit, labels, rollup;
	struct text source; /* the group of its last record */
	bool joined;        /* there are several */
	struct counter_rate_column rate;
	struct counter_rate_sample last; /* of the last bucket, if `seen` */
	bool seen;
	bool closed;        /* the sample behind the window is known */
	bool sampled, used; /* in the window: a sample, an interval */
	struct series_cell cell;
};

/* The queries about a window: the hours next to it have the samples that the
 * first and the last interval of a counter begin and end with. */
enum series_phase { SERIES_BEFORE, SERIES_WINDOW, SERIES_BEHIND, SERIES_FLUSH };

struct series {
	struct source *source;
	struct text partition;
	struct string_table texts; /* nodes, metrics, rollups, lists */
	struct string_table
	    keys; /* node, group and metric -> index into `ones` */
	struct one *ones;
	uint32_t ones_room;
	uint32_t
	    last; /* the last one: points of one series follow each other */
	struct text rollup;          /* the same for the group */
	struct wire_buckets buckets; /* remaining values of the record */
	/* The last one of them; once, as it is cleared at each call of a
	 * function that has it as a variable. */
	struct wire_bucket bucket;
	struct wire_query query;
	int64_t step_ns;
	int64_t from_ns, to_ns; /* the window */
	bool nothing_before, nothing_behind;
	int64_t spread_ns; /* by which a window of no length is widened */
	bool intervals, single;
	enum series_phase phase;
	bool moves; /* a clock may be off by a millisecond or more */
	struct column_groups groups;
	struct joined joined;
	struct series_merge merge; /* of series that are joined */

	/* Of the last bucket of a counter: before it, and in it. */
	struct series_interval interval[2];
	uint32_t interval_count, interval_next;
	int64_t
	    reached_ns; /* of interval[interval_next]: up to where it is used */
	uint32_t flushed; /* index into `ones` */
};

/* Take a bucket of series->ones[series->last], whose sample times are shown
 * times: compute the intervals up to its first and its last sample. */
void series_counter_take(struct series *s, const struct wire_bucket *bucket);
/* Set what identifies the series. */
void series_name_point(
    const struct series *s, uint32_t number, struct series_point *point);
/* The same where nothing is to be cut: true and the point, which is the only
 * one, of a bucket of one sample.  False: nothing was done. */
bool series_counter_single(struct series *s, const struct wire_bucket *bucket,
    struct series_point *point);
int64_t series_floor_to(int64_t time_ns, int64_t step_ns);
/* The next point of these intervals.  False: they are used up. */
bool series_counter_next(struct series *s, struct series_point *point);
/* The next point of the unfinished steps of all series. */
bool series_counter_flush(struct series *s, struct series_point *point);

#endif
