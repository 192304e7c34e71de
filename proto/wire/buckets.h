/*
 * wire_buckets - what the samples of a metric were in a step of time.
 *
 * With step_ns (struct wire_query) samples come as these, and no other kind:
 * records of kind sample with the set as source, the metric as name and the
 * rollup that the numbers are from ("raw", "10s", "1min", "10min") as key. Such
 * a record is one of them, or `count` of steps that follow each other.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_WIRE_BUCKETS_H
#define PROTO_WIRE_BUCKETS_H

#include "proto/record/counter_rate.h"
#include "proto/wire/wire.h"

struct wire_bucket {
	int64_t begin_ns, end_ns;
	bool counter;
	uint64_t count; /* samples that had a number */
	struct counter_rate_sample first, last;
	double low, high; /* gauge: min, max; counter: least and greatest rate
			     per second; NaN: none known */
	double mean;      /* gauge; counter: the increase */
	double seconds;   /* counter: for which the rate is known */
};
enum {
	WIRE_BUCKET_GAUGE = 10,   /* values that a gauge takes ... */
	WIRE_BUCKET_COUNTER = 11, /* ... and a counter */
	WIRE_RUN_MAX = RECORD_VALUES_MAX / WIRE_BUCKET_COUNTER,
	WIRE_BUCKET_BYTES_MAX = 9 * WIRE_BUCKET_COUNTER,
};

/* Append a bucket to the values of its record.  False, and `full`, when there
 * is not room for WIRE_BUCKET_BYTES_MAX. */
bool wire_put_bucket(
    struct wire_writer *values, const struct wire_bucket *bucket);

/* The buckets of a record of a checked page. */
struct wire_buckets {
	struct text rest;
	int64_t begin_ns, step_ns; /* of the next one */
	uint64_t left;
	bool counter;
};
/* False: it is something else, or its numbers and times do not agree. */
bool wire_buckets_init(
    struct wire_buckets *buckets, const struct record *record);
/* 1 and a bucket, 0 at the end, -1 when it is none. */
int wire_next_bucket(struct wire_buckets *buckets, struct wire_bucket *bucket);

#endif
