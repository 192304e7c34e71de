/*
 * rollup_private - the columns of a row of buckets, which rollup_write.c and
 * rollup_decimals.c write and rollup_read.c and rollup_decimals.c
 * read.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H
#define AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H

#include <math.h>

#include "aggregator/rollup/rollup.h"
#include "proto/record/counter_rate.h"

/* Columns of the nodes: number, buckets, columns * 4 + marks. */
enum { ROLLUP_NODE, ROLLUP_NODE_BUCKETS, ROLLUP_NODE_MARKS };
enum { ROLLUP_NODE_COLUMNS = ROLLUP_NODE_MARKS + 1 };
/* Stored on disk. */
enum { ROLLUP_LACKING = 1, ROLLUP_LATER = 2, ROLLUP_MARKS = 4 };

/* Columns stored once for all metrics, or for a metric that differs from
 * them.  The time of the last sample counts from that of the first. */
enum rollup_shared {
	ROLLUP_STEP,
	ROLLUP_COUNT,
	ROLLUP_FIRST_NS,
	ROLLUP_LAST_NS,
	ROLLUP_FIRST_BOOT,
	ROLLUP_LAST_BOOT,
	ROLLUP_SECONDS
};
enum {
	ROLLUP_SHARED_COLUMNS = ROLLUP_SECONDS + 1,
	ROLLUP_OWN_COLUMNS = ROLLUP_LAST_BOOT
};
/* Columns of each metric.  The last one is omitted when it follows from the
 * others. */
enum rollup_own {
	ROLLUP_LOW,
	ROLLUP_HIGH,
	ROLLUP_FIRST,
	ROLLUP_LAST,
	ROLLUP_SUM,
	ROLLUP_METRIC_COLUMNS
};

/* Flags: the columns that a metric has of its own, and how its numbers are
 * stored.  Stored on disk. */
enum {
	ROLLUP_COUNTER = 1,
	ROLLUP_OWN_SAMPLES = 2,
	ROLLUP_OWN_SECONDS = 4,
	ROLLUP_GROWS = 8, /* no sums: a counter that was never reset */
	/* Decimals, whose type and number of digits follow. */
	ROLLUP_DECIMAL = 16,
	ROLLUP_FLAGS_MAX = 31
};

enum {
	ROLLUP_RATE_BITS = 10, /* of the fraction of a rate that are stored */
	ROLLUP_RATE_SHIFT = 52 - ROLLUP_RATE_BITS,
	/* The byte of decimals: how many digits, and the type of the samples'
	 * values. */
	ROLLUP_DIGITS = 15,
	ROLLUP_TYPE_SHIFT = 4,
	ROLLUP_DECIMAL_MAX = 63
};
/* Stored on disk. */
enum rollup_type { ROLLUP_INT, ROLLUP_UINT, ROLLUP_FLOAT, ROLLUP_TYPES };

static inline double
rollup_power(unsigned digits)
{
	static const double power[ROLLUP_DIGITS + 1] = { 1e0, 1e1, 1e2, 1e3,
		1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
		1e15 };

	return power[digits & ROLLUP_DIGITS];
}

/* The increase of a counter in the bucket, provided that it did not start
 * again. */
static inline double
rollup_growth(const struct bucket *bucket)
{
	return counter_rate_number(&bucket->last.value) -
	       counter_rate_number(&bucket->first.value);
}

/* The bits of a rate that are stored. */
static inline int64_t
rollup_rate_code(double rate)
{
	int64_t bits;

	memcpy(&bits, &rate, sizeof(bits));
	return bits >> ROLLUP_RATE_SHIFT;
}

/* What the least and the greatest rate of a bucket are compared with: its mean
 * rate if the counter did not start again. */
static inline int64_t
rollup_mean_code(const struct bucket *bucket)
{
	double mean =
	    bucket->seconds > 0 ? rollup_growth(bucket) / bucket->seconds : 0;

	return mean > 0 ? rollup_rate_code(mean) : 0;
}

/* Write the columns of a metric as decimals, if all its numbers are: of the
 * `count` buckets that have samples.  Sets their type and number of digits. */
bool rollup_put_decimals(struct chunk_writer *chunk,
    const struct bucket *const *bucket, uint32_t count, unsigned flags,
    uint8_t *decimal);
/* Read them from `column` on into the buckets that have samples. */
bool rollup_get_decimals(struct chunk_reader *chunk, uint32_t column,
    struct bucket *bucket, uint32_t count, unsigned flags, uint8_t decimal);

bool rollup_get_numbers(
    struct chunk_reader *chunk, uint32_t column, uint32_t count, int64_t *to);
bool rollup_get_floats(
    struct chunk_reader *chunk, uint32_t column, uint32_t count, double *to);

#endif
