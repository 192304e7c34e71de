/*
 * wire_buckets - summaries of the samples of a metric in one time step.
 *
 * A query with step_ns (struct wire_query) gets samples only in this form:
 * records of kind sample with the metric group as source, the metric as name,
 * and as key the rollup that the numbers come from ("raw", "1min", "1h").  Such
 * a record has one bucket, or `count` buckets of consecutive steps.
 *
 * Buckets of one sample each, of one boot and one type, come as cells of 8
 * bytes, little-endian: the boot, the type, the time of each sample, the value
 * of each.  That is 16 bytes a bucket instead of some 40, and a page of them is
 * checked in no time.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_BUCKETS_H
#define PROTO_WIRE_BUCKETS_H

#include "proto/record/counter_rate.h"
#include "proto/wire/columns.h"
#include "proto/wire/wire.h"

struct wire_bucket {
	int64_t begin_ns, end_ns;
	bool counter;
	uint64_t count; /* samples with a number */
	struct counter_rate_sample first, last;
	/* Of a gauge, or of a counter's rate per second; NaN: unknown. */
	double low, high;
	double mean;    /* gauge: the mean; counter: the increase */
	double seconds; /* counter: time for which the rate is known */
};
enum {
	WIRE_BUCKET_GAUGE = 10,   /* number of values of a gauge ... */
	WIRE_BUCKET_COUNTER = 11, /* ... and of a counter */
	WIRE_PER_RECORD_MAX = RECORD_VALUES_MAX / WIRE_BUCKET_COUNTER,
	WIRE_BUCKET_BYTES_MAX = 9 * WIRE_BUCKET_COUNTER,
	WIRE_SINGLES_CELLS = 2, /* before the times */
};

/* Of the samples of a record in cells. */
struct wire_singles {
	bool counter;
	enum value_type type; /* int, uint or float */
	uint64_t boot;
	uint32_t count;
};
static inline size_t
wire_singles_bytes(uint32_t count)
{
	return WIRE_CELL_BYTES * (WIRE_SINGLES_CELLS + (size_t)2 * count);
}
/* Begin the cells of a record, then put each of its samples. */
void wire_begin_singles(char *to, const struct wire_singles *singles);
static inline void
wire_put_single(char *to, const struct wire_singles *singles, uint32_t i,
    const struct counter_rate_sample *sample)
{
	size_t at = WIRE_SINGLES_CELLS + (size_t)i;

	wire_put_cell(to + at * WIRE_CELL_BYTES, (uint64_t)sample->time_ns);
	at += singles->count;
	wire_put_cell(to + at * WIRE_CELL_BYTES, sample->value.is.u);
}

/* Append a bucket to the values of its record.  False, with `full` set: there
 * is no room for WIRE_BUCKET_BYTES_MAX. */
bool wire_put_bucket(
    struct wire_writer *values, const struct wire_bucket *bucket);

/* The buckets of a record of a checked page. */
struct wire_buckets {
	struct text rest;
	int64_t begin_ns, step_ns; /* of the next one */
	uint64_t left;
	bool counter;
	bool is_cells; /* `rest`: the time of the next one, and what follows */
	struct wire_singles singles;
};
/* False: the record is not of this form, or its numbers and times disagree. */
bool wire_buckets_init(
    struct wire_buckets *buckets, const struct record *record);
/* 1 and a bucket, 0 at the end, -1 when the bytes are not a bucket. */
int wire_next_bucket(struct wire_buckets *buckets, struct wire_bucket *bucket);

#endif
