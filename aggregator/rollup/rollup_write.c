/*
 * rollup_write - writing buckets as columns.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_private.h"

#include <assert.h>
#include <math.h>

#define RATE_BITS    10    /* bits of the fraction of a rate that are stored */
#define SUM_ERROR    1e-12 /* relative rounding error of a sum of decimals */
#define GROWTH_ERROR 1e-9  /* relative rounding error of an increase */

/* Find the steps of the hour in which any metric has samples. */
static uint32_t
find_steps(const struct rollup_metric *metric, uint32_t metrics,
    uint32_t buckets, uint32_t *step)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < buckets; i++)
		for (uint32_t m = 0; m < metrics; m++)
			if (metric[m].bucket[i].count > 0) {
				step[count++] = i;
				break;
			}
	return count;
}

static bool
same_samples(const struct bucket *a, const struct bucket *b)
{
	return a->count == b->count &&
	       (a->count == 0 || (a->first.time_ns == b->first.time_ns &&
				     a->last.time_ns == b->last.time_ns &&
				     a->first.boot == b->first.boot &&
				     a->last.boot == b->last.boot));
}

static bool
same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool
only_grows(
    const struct rollup_metric *metric, const uint32_t *step, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *b = &metric->bucket[step[i]];
		double error;

		if (b->count == 0)
			continue;
		error = fabs(rollup_growth(b) - b->sum);
		if (!(error <= GROWTH_ERROR * fabs(b->sum)) && error != 0)
			return false;
	}
	return true;
}

/* The columns in which a metric differs from the common ones. */
static unsigned
flags_of(const struct rollup_metric *metric, const struct rollup_metric *all,
    const uint32_t *step, uint32_t count)
{
	unsigned flags = metric->counter ? ROLLUP_COUNTER : 0;

	if (metric->counter && only_grows(metric, step, count))
		flags |= ROLLUP_GROWS;
	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *a = &metric->bucket[step[i]];
		const struct bucket *b = &all->bucket[step[i]];

		if (!same_samples(a, b))
			flags |= ROLLUP_OWN_SAMPLES;
		if (metric->counter && a->count > 0 &&
		    (b->count == 0 || !same_bits(a->seconds, b->seconds)))
			flags |= ROLLUP_OWN_SECONDS;
	}
	return flags;
}

/* Round down or up, so that the rounded range contains the original one. */
static double
round_rate(double rate, bool up)
{
	uint64_t rest = (UINT64_C(1) << (52 - RATE_BITS)) - 1, bits;
	double least = rate;

	if (!isfinite(rate) || rate <= 0)
		return rate;
	memcpy(&bits, &rate, sizeof(bits));
	if ((bits & rest) == 0)
		return rate;
	bits = (bits & ~rest) + (up ? rest + 1 : 0);
	memcpy(&least, &bits, sizeof(least));
	return isfinite(least) ? least : rate;
}

/* The sum of decimals, without the rounding error of the addition: its digits
 * would take more space than the sum itself. */
static double
round_sum(double sum)
{
	double power = 1;

	if (!isfinite(sum) || fabs(sum) > 1e12)
		return sum;
	for (int digits = 0; digits <= 6; digits++, power *= 10) {
		double decimal = round(sum * power) / power;

		if (fabs(decimal - sum) <= SUM_ERROR * fabs(sum))
			return decimal;
	}
	return sum;
}

static int64_t
whole(const struct bucket *bucket, enum rollup_shared column)
{
	if (bucket->count == 0)
		return 0;
	switch (column) {
	case ROLLUP_COUNT: return (int64_t)bucket->count;
	case ROLLUP_FIRST_NS: return bucket->first.time_ns;
	case ROLLUP_LAST_NS: return bucket->last.time_ns;
	case ROLLUP_FIRST_BOOT: return (int64_t)bucket->first.boot;
	default: return (int64_t)bucket->last.boot;
	}
}

static void
put_samples(struct chunk_writer *chunk, const struct bucket *bucket,
    const uint32_t *step, uint32_t count)
{
	int64_t numbers[ROLLUP_BUCKETS];

	for (enum rollup_shared c = ROLLUP_COUNT; c <= ROLLUP_LAST_BOOT; c++) {
		for (uint32_t i = 0; i < count; i++)
			numbers[i] = whole(&bucket[step[i]], c);
		chunk_put_int(chunk, numbers, count);
	}
}

static void
put_seconds(struct chunk_writer *chunk, const struct bucket *bucket,
    const uint32_t *step, uint32_t count)
{
	double numbers[ROLLUP_BUCKETS];

	for (uint32_t i = 0; i < count; i++)
		numbers[i] =
		    bucket[step[i]].count > 0 ? bucket[step[i]].seconds : 0;
	chunk_put_float(chunk, numbers, count);
}

static double
number_of(const struct bucket *bucket, enum rollup_own column, bool counter)
{
	if (bucket->count == 0)
		return 0;
	switch (column) {
	case ROLLUP_LOW:
		return counter ? round_rate(bucket->low, false) : bucket->low;
	case ROLLUP_HIGH:
		return counter ? round_rate(bucket->high, true) : bucket->high;
	default: return round_sum(bucket->sum);
	}
}

static void
put_numbers(struct chunk_writer *chunk, const struct rollup_metric *metric,
    enum rollup_own column, const uint32_t *step, uint32_t count)
{
	double numbers[ROLLUP_BUCKETS];

	for (uint32_t i = 0; i < count; i++)
		numbers[i] = number_of(
		    &metric->bucket[step[i]], column, metric->counter);
	chunk_put_float(chunk, numbers, count);
}

static void
put_metric(struct chunk_writer *chunk, const struct rollup_metric *metric,
    bool grows, const uint32_t *step, uint32_t count)
{
	struct value values[ROLLUP_BUCKETS];

	put_numbers(chunk, metric, ROLLUP_LOW, step, count);
	put_numbers(chunk, metric, ROLLUP_HIGH, step, count);
	for (enum rollup_own c = ROLLUP_FIRST; c <= ROLLUP_LAST; c++) {
		for (uint32_t i = 0; i < count; i++) {
			const struct bucket *b = &metric->bucket[step[i]];

			values[i] = (struct value){ .type = VALUE_NIL };
			if (b->count > 0)
				values[i] = c == ROLLUP_FIRST ? b->first.value
							      : b->last.value;
		}
		chunk_put_value(chunk, values, count);
	}
	if (!grows)
		put_numbers(chunk, metric, ROLLUP_SUM, step, count);
}

struct text
rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics,
    const struct rollup_columns *columns, uint32_t buckets)
{
	uint32_t step[ROLLUP_BUCKETS], count, m;
	int64_t numbers[ROLLUP_BUCKETS];
	const struct rollup_metric *all = metric;
	struct text bytes;

	assert(metrics <= ROLLUP_METRICS && buckets <= ROLLUP_BUCKETS);
	value->bytes = 0;
	count = find_steps(metric, metrics, buckets, step);
	if (count == 0 && !columns->lacking)
		return (struct text){ NULL, 0 };
	varint_put(value, columns->lacking);
	varint_put(value, columns->defined);
	varint_put(value, count > 0 ? metrics : 0);
	if (count == 0)
		return buffer_text(value);
	/* Only counters have seconds: take the common ones from a counter. */
	for (m = 0; m < metrics && !all->counter; m++)
		all = metric[m].counter ? &metric[m] : all;
	chunk_begin(chunk);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = step[i];
	chunk_put_int(chunk, numbers, count);
	put_samples(chunk, all->bucket, step, count);
	put_seconds(chunk, all->bucket, step, count);
	for (m = 0; m < metrics; m++) {
		unsigned flags = flags_of(&metric[m], all, step, count);

		varint_put(value, metric[m].index);
		varint_put(value, flags);
		if (flags & ROLLUP_OWN_SAMPLES)
			put_samples(chunk, metric[m].bucket, step, count);
		if (flags & ROLLUP_OWN_SECONDS)
			put_seconds(chunk, metric[m].bucket, step, count);
		put_metric(chunk, &metric[m], (flags & ROLLUP_GROWS) != 0, step,
		    count);
	}
	bytes = chunk_end(chunk);
	buffer_put(value, bytes.at, bytes.bytes);
	return buffer_text(value);
}
