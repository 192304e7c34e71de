/*
 * bucket - a summary of the samples of one metric in one step of time.
 *
 * For a gauge a bucket has the extremes and the mean.  For a counter it has the
 * increase, the time for which the rate is known, and the extreme rates.  The
 * interval between two samples belongs to the bucket of the later one, so
 * buckets of a series can be joined to wider ones without counting anything
 * twice; only the interval before the very first sample belongs to no bucket.
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

/* Add samples in time order.  `before` is the previous sample of the series, in
 * this bucket or an earlier one; NULL: there is none.  A value that is not a
 * number is ignored. */
void bucket_add_gauge(
    struct bucket *bucket, const struct counter_rate_sample *sample);
void bucket_add_counter(struct bucket *bucket,
    const struct counter_rate_column *column,
    const struct counter_rate_sample *before,
    const struct counter_rate_sample *sample);

/* Add a later bucket of the same series. */
void bucket_join(struct bucket *bucket, const struct bucket *more);

double bucket_mean(const struct bucket *bucket);

#endif
