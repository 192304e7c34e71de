/*
 * bucket - the samples of one metric in one step of time, as few numbers.
 *
 * A gauge keeps its extremes and mean, a counter how much it grew, for how
 * many seconds that is known, and its extreme rates.  The interval between
 * two samples belongs to the bucket of the later one, so that buckets of a
 * series can be joined to wider ones and nothing is counted twice; only the
 * interval before the first sample of all is in none.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_BUCKET_H
#define AGGREGATOR_ROLLUP_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/counter_rate.h"

struct bucket {         /* count 0: empty, all else is not to be read */
	uint64_t count; /* samples that had a number */
	struct counter_rate_sample first, last;
	double low, high; /* gauge: min, max; counter: of the rates per
			     second, NaN when none is known */
	double sum;       /* gauge: of the values; counter: the increase */
	double seconds;   /* counter: for which the rate is known */
};

/* Samples come in the order of time; `before` is the one before this, in
 * whatever bucket, NULL when there is none.  What is no number is left out. */
void bucket_add_gauge(
    struct bucket *bucket, const struct counter_rate_sample *sample);
void bucket_add_counter(struct bucket *bucket,
    const struct counter_rate_sample *before,
    const struct counter_rate_sample *sample);

/* Take in `more`, which lies behind it in the same series. */
void bucket_join(struct bucket *bucket, const struct bucket *more);

double bucket_mean(const struct bucket *bucket);

#endif
