/*
 * rollup_private - the columns of a row of buckets, which rollup_write.c
 * writes and rollup_read.c reads.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H
#define AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H

#include "aggregator/rollup/rollup.h"
#include "proto/record/counter_rate.h"

/* Columns stored once for all metrics, or for a metric that differs from
 * them. */
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

/* Flags: the columns that a metric has of its own.  Stored on disk. */
enum {
	ROLLUP_COUNTER = 1,
	ROLLUP_OWN_SAMPLES = 2,
	ROLLUP_OWN_SECONDS = 4,
	ROLLUP_GROWS = 8, /* no sums: a counter that was never reset */
	ROLLUP_FLAGS_MAX = 15
};

/* The increase of a counter in the bucket, provided that it did not start
 * again. */
static inline double
rollup_growth(const struct bucket *bucket)
{
	return counter_rate_number(&bucket->last.value) -
	       counter_rate_number(&bucket->first.value);
}

#endif
