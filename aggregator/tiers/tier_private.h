/*
 * tier_private - the columns of a row of buckets, which tier_write.c puts and
 * tier_read.c gets.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TIERS_TIER_PRIVATE_H
#define AGGREGATOR_TIERS_TIER_PRIVATE_H

#include "aggregator/tiers/tier.h"
#include "proto/record/counter_rate.h"

/* Columns that stand once, and of a metric that has its own. */
enum tier_shared {
	TIER_STEP,
	TIER_COUNT,
	TIER_FIRST_NS,
	TIER_LAST_NS,
	TIER_FIRST_BOOT,
	TIER_LAST_BOOT,
	TIER_SECONDS
};
enum {
	TIER_SHARED_COLUMNS = TIER_SECONDS + 1,
	TIER_OWN_COLUMNS = TIER_LAST_BOOT
};
/* Columns of each metric; the last is not there when it follows from the
 * others. */
enum tier_own {
	TIER_LOW,
	TIER_HIGH,
	TIER_FIRST,
	TIER_LAST,
	TIER_SUM,
	TIER_METRIC_COLUMNS
};

/* What a metric has of its own; at rest. */
enum {
	TIER_COUNTER = 1,
	TIER_OWN_SAMPLES = 2,
	TIER_OWN_SECONDS = 4,
	TIER_GROWS = 8, /* no sums: a counter that never began again */
	TIER_FLAGS_MAX = 15
};

/* How much a counter grew from the bucket before, which NULL is not there, if
 * it did nothing but grow. */
static inline double
tier_growth(const struct bucket *before, const struct bucket *bucket)
{
	return counter_rate_number(&bucket->last.value) -
	       counter_rate_number(
		   before != NULL ? &before->last.value : &bucket->first.value);
}

#endif
