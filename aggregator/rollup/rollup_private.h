/*
 * rollup_private - the columns of a row of buckets, which rollup_write.c puts
 * and rollup_read.c gets. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H
#define AGGREGATOR_ROLLUP_ROLLUP_PRIVATE_H

#include "aggregator/rollup/rollup.h"
#include "proto/record/counter_rate.h"

/* Columns that stand once, and of a metric that has its own. */
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
/* Columns of each metric; the last is not there when it follows from the
 * others. */
enum rollup_own {
	ROLLUP_LOW,
	ROLLUP_HIGH,
	ROLLUP_FIRST,
	ROLLUP_LAST,
	ROLLUP_SUM,
	ROLLUP_METRIC_COLUMNS
};

/* What a metric has of its own; at rest. */
enum {
	ROLLUP_COUNTER = 1,
	ROLLUP_OWN_SAMPLES = 2,
	ROLLUP_OWN_SECONDS = 4,
	ROLLUP_GROWS = 8, /* no sums: a counter that never began again */
	ROLLUP_FLAGS_MAX = 15
};

/* How much a counter grew from the bucket before, which NULL is not there, if
 * it did nothing but grow. */
static inline double
rollup_growth(const struct bucket *before, const struct bucket *bucket)
{
	return counter_rate_number(&bucket->last.value) -
	       counter_rate_number(
		   before != NULL ? &before->last.value : &bucket->first.value);
}

#endif
