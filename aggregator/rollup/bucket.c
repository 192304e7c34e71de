/*
 * bucket - the samples of one metric in one step of time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/bucket.h"

#include <math.h>

static void
extend(struct bucket *bucket, double low, double high)
{
	/* NaN: no value yet, or none to add. */
	if (!(bucket->low <= low))
		bucket->low = isnan(low) ? bucket->low : low;
	if (!(bucket->high >= high))
		bucket->high = isnan(high) ? bucket->high : high;
}

static bool
take(struct bucket *bucket, const struct counter_rate_sample *sample)
{
	if (!counter_rate_is_number(&sample->value))
		return false;
	if (bucket->count++ == 0) {
		bucket->first = *sample;
		bucket->low = bucket->high = NAN;
		bucket->sum = bucket->seconds = 0;
	}
	bucket->last = *sample;
	return true;
}

void
bucket_add_gauge(
    struct bucket *bucket, const struct counter_rate_sample *sample)
{
	double value = counter_rate_number(&sample->value);

	if (!take(bucket, sample))
		return;
	extend(bucket, value, value);
	bucket->sum += value;
}

/* Add the interval between two samples of a counter. */
static void
add_interval(struct bucket *bucket, const struct counter_rate_column *column,
    const struct counter_rate_sample *u, const struct counter_rate_sample *v)
{
	struct counter_rate counter_rate = counter_rate_between(column, u, v);

	bucket->sum += counter_rate.increase;
	if (counter_rate.seconds > 0) {
		double per_second =
		    counter_rate.increase / counter_rate.seconds;

		bucket->seconds += counter_rate.seconds;
		extend(bucket, per_second, per_second);
	}
}

void
bucket_add_counter(struct bucket *bucket,
    const struct counter_rate_column *column,
    const struct counter_rate_sample *sample)
{
	struct counter_rate_sample before = bucket->last;

	if (take(bucket, sample) && bucket->count > 1)
		add_interval(bucket, column, &before, sample);
}

void
bucket_join(struct bucket *bucket, const struct counter_rate_column *column,
    const struct bucket *more)
{
	if (more->count == 0)
		return;
	if (bucket->count == 0) {
		*bucket = *more;
		return;
	}
	if (column != NULL)
		add_interval(bucket, column, &bucket->last, &more->first);
	bucket->count += more->count;
	bucket->last = more->last;
	extend(bucket, more->low, more->high);
	bucket->sum += more->sum;
	bucket->seconds += more->seconds;
}

double
bucket_mean(const struct bucket *bucket)
{
	return bucket->count > 0 ? bucket->sum / (double)bucket->count : NAN;
}
