/*
 * bucket - a summary of the samples of one metric in one step of time.
 *
 * For a gauge a bucket has the extremes and the mean.  For a counter it has the
 * increase from its first sample to its last, the time for which the rate is
 * known, and the extreme rates in between.  The interval between two buckets of
 * a series belongs to neither: whoever joins them computes it from the last
 * sample of one and the first of the other.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_BUCKET_H
#define AGGREGATOR_ROLLUP_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/counter_rate.h"

struct bucket {         /* count 0: empty, all other members are undefined */
	uint64_t count; /* samples with a number */
	struct counter_rate_sample first, last;
	/* Minimum and maximum: of a gauge's values, or of a counter's rates per
	 * second (NaN: no rate is known). */
	double low, high;
	double sum;     /* gauge: sum of the values; counter: increase */
	double seconds; /* counter: time for which the rate is known */
};

/* Add samples in time order.  A value that is not a number is ignored. */
void bucket_add_gauge(
    struct bucket *bucket, const struct counter_rate_sample *sample);
void bucket_add_counter(struct bucket *bucket,
    const struct counter_rate_column *column,
    const struct counter_rate_sample *sample);

/* Add a later bucket of the same series, and for a counter the interval between
 * the two; `column` is NULL for a gauge. */
void bucket_join(struct bucket *bucket,
    const struct counter_rate_column *column, const struct bucket *more);

double bucket_mean(const struct bucket *bucket);

#endif
