/*
 * tier - buckets in columns.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tier.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Columns that stand once, and of a metric that has its own. */
enum shared { STEP, COUNT, FIRST_NS, LAST_NS, FIRST_BOOT, LAST_BOOT, SECONDS };
enum { SHARED_COLUMNS = SECONDS + 1, OWN_COLUMNS = LAST_BOOT };
/* Columns of each metric; the last is not there when it follows from the
 * others. */
enum of_metric { LOW, HIGH, FIRST, LAST, SUM, METRIC_COLUMNS };

/* What a metric has of its own; at rest. */
enum {
	IS_COUNTER = 1,
	OWN_SAMPLES = 2,
	OWN_SECONDS = 4,
	GROWS = 8, /* no sums: a counter that never began again */
	FLAGS_MAX = 15
};

#define RATE_BITS    10    /* of the fraction of a rate that are kept */
#define SUM_ERROR    1e-12 /* relative, of a sum of decimals */
#define GROWTH_ERROR 1e-9  /* of an increase */

static const struct {
	const char *name;
	int64_t seconds;
} tiers[TIERS] = { { "raw", 0 }, { "10s", 10 }, { "1min", 60 },
	{ "10min", 600 } };

int64_t
tier_step_ns(enum tier_step tier)
{
	return tiers[tier].seconds * 1000000000;
}

const char *
tier_name(enum tier_step tier)
{
	return tiers[tier].name;
}

enum tier_step
tier_of_step(int64_t step_ns)
{
	enum tier_step tier = TIER_10MIN;

	while (tier > TIER_RAW && step_ns % tier_step_ns(tier) != 0)
		tier--;
	return tier;
}

/* ---- writing ---- */

/* Which steps of the hour have samples of any metric. */
static uint32_t
find_steps(const struct tier_metric *metric, uint32_t metrics, uint32_t buckets,
    uint32_t *step)
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

/* How much a counter grew from the bucket before, which NULL is not there, if
 * it did nothing but grow. */
static double
growth(const struct bucket *before, const struct bucket *bucket)
{
	return rate_number(&bucket->last.value) -
	       rate_number(
		   before != NULL ? &before->last.value : &bucket->first.value);
}

static bool
only_grows(
    const struct tier_metric *metric, const uint32_t *step, uint32_t count)
{
	const struct bucket *before = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *b = &metric->bucket[step[i]];
		double error;

		if (b->count == 0)
			continue;
		error = fabs(growth(before, b) - b->sum);
		if (!(error <= GROWTH_ERROR * fabs(b->sum)) && error != 0)
			return false;
		before = b;
	}
	return true;
}

/* How a metric differs from the one that stands for all. */
static unsigned
flags_of(const struct tier_metric *metric, const struct tier_metric *all,
    const uint32_t *step, uint32_t count)
{
	unsigned flags = metric->counter ? IS_COUNTER : 0;

	if (metric->counter && only_grows(metric, step, count))
		flags |= GROWS;
	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *a = &metric->bucket[step[i]];
		const struct bucket *b = &all->bucket[step[i]];

		if (!same_samples(a, b))
			flags |= OWN_SAMPLES;
		if (metric->counter && a->count > 0 &&
		    (b->count == 0 || !same_bits(a->seconds, b->seconds)))
			flags |= OWN_SECONDS;
	}
	return flags;
}

/* Rounded down, or up: so that what lies between stays between. */
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

/* Doubles that stand for decimals: their sum without what adding made of
 * it, since that would cost more than the sum itself. */
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
whole(const struct bucket *bucket, enum shared column)
{
	if (bucket->count == 0)
		return 0;
	switch (column) {
	case COUNT: return (int64_t)bucket->count;
	case FIRST_NS: return bucket->first.time_ns;
	case LAST_NS: return bucket->last.time_ns;
	case FIRST_BOOT: return (int64_t)bucket->first.boot;
	default: return (int64_t)bucket->last.boot;
	}
}

static void
put_samples(struct chunk_writer *chunk, const struct bucket *bucket,
    const uint32_t *step, uint32_t count)
{
	int64_t numbers[TIER_BUCKETS];

	for (enum shared c = COUNT; c <= LAST_BOOT; c++) {
		for (uint32_t i = 0; i < count; i++)
			numbers[i] = whole(&bucket[step[i]], c);
		chunk_put_int(chunk, numbers, count);
	}
}

static void
put_seconds(struct chunk_writer *chunk, const struct bucket *bucket,
    const uint32_t *step, uint32_t count)
{
	double numbers[TIER_BUCKETS];

	for (uint32_t i = 0; i < count; i++)
		numbers[i] =
		    bucket[step[i]].count > 0 ? bucket[step[i]].seconds : 0;
	chunk_put_float(chunk, numbers, count);
}

static double
number_of(const struct bucket *bucket, enum of_metric column, bool counter)
{
	if (bucket->count == 0)
		return 0;
	switch (column) {
	case LOW: return counter ? round_rate(bucket->low, false) : bucket->low;
	case HIGH:
		return counter ? round_rate(bucket->high, true) : bucket->high;
	default: return round_sum(bucket->sum);
	}
}

static void
put_numbers(struct chunk_writer *chunk, const struct tier_metric *metric,
    enum of_metric column, const uint32_t *step, uint32_t count)
{
	double numbers[TIER_BUCKETS];

	for (uint32_t i = 0; i < count; i++)
		numbers[i] = number_of(
		    &metric->bucket[step[i]], column, metric->counter);
	chunk_put_float(chunk, numbers, count);
}

static void
put_metric(struct chunk_writer *chunk, const struct tier_metric *metric,
    bool grows, const uint32_t *step, uint32_t count)
{
	struct value values[TIER_BUCKETS];

	put_numbers(chunk, metric, LOW, step, count);
	put_numbers(chunk, metric, HIGH, step, count);
	for (enum of_metric c = FIRST; c <= LAST; c++) {
		for (uint32_t i = 0; i < count; i++) {
			const struct bucket *b = &metric->bucket[step[i]];

			values[i] = (struct value){ .type = VALUE_NIL };
			if (b->count > 0)
				values[i] =
				    c == FIRST ? b->first.value : b->last.value;
		}
		chunk_put_value(chunk, values, count);
	}
	if (!grows)
		put_numbers(chunk, metric, SUM, step, count);
}

struct text
tier_write(struct chunk_writer *chunk, struct buffer *value,
    const struct tier_metric *metric, uint32_t metrics, uint32_t columns,
    uint32_t buckets)
{
	uint32_t step[TIER_BUCKETS], count, m;
	int64_t numbers[TIER_BUCKETS];
	const struct tier_metric *all = metric;
	struct text bytes;

	assert(metrics <= TIER_METRICS && buckets <= TIER_BUCKETS);
	value->bytes = 0;
	count = find_steps(metric, metrics, buckets, step);
	if (count == 0)
		return (struct text){ NULL, 0 };
	/* The seconds are those of counters: let one of them stand for all. */
	for (m = 0; m < metrics && !all->counter; m++)
		all = metric[m].counter ? &metric[m] : all;
	put_varint(value, columns);
	put_varint(value, metrics);
	chunk_begin(chunk);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = step[i];
	chunk_put_int(chunk, numbers, count);
	put_samples(chunk, all->bucket, step, count);
	put_seconds(chunk, all->bucket, step, count);
	for (m = 0; m < metrics; m++) {
		unsigned flags = flags_of(&metric[m], all, step, count);

		put_varint(value, metric[m].index);
		put_varint(value, flags);
		if (flags & OWN_SAMPLES)
			put_samples(chunk, metric[m].bucket, step, count);
		if (flags & OWN_SECONDS)
			put_seconds(chunk, metric[m].bucket, step, count);
		put_metric(
		    chunk, &metric[m], (flags & GROWS) != 0, step, count);
	}
	bytes = chunk_end(chunk);
	put_bytes(value, bytes.at, bytes.bytes);
	return buffer_text(value);
}

/* ---- reading ---- */

void
tier_row_clear(struct tier_row *row)
{
	chunk_reader_free(&row->chunk);
}

static bool
get_numbers(struct tier_row *row, uint32_t column, int64_t *to)
{
	return column < chunk_columns(row->chunk) &&
	       chunk_count(row->chunk, column) == row->count &&
	       chunk_get_int(row->chunk, column, to) == CHUNK_OK;
}

static bool
get_floats(struct tier_row *row, uint32_t column, double *to)
{
	return column < chunk_columns(row->chunk) &&
	       chunk_count(row->chunk, column) == row->count &&
	       chunk_get_float(row->chunk, column, to) == CHUNK_OK;
}

static bool
get_samples(struct tier_row *row, uint32_t column, struct bucket *to)
{
	int64_t numbers[OWN_COLUMNS][TIER_BUCKETS];

	for (uint32_t c = 0; c < OWN_COLUMNS; c++)
		if (!get_numbers(row, column + c, numbers[c]))
			return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (numbers[0][i] < 0)
			return false;
		to[i].count = (uint64_t)numbers[COUNT - 1][i];
		to[i].first.time_ns = numbers[FIRST_NS - 1][i];
		to[i].last.time_ns = numbers[LAST_NS - 1][i];
		to[i].first.boot = (uint64_t)numbers[FIRST_BOOT - 1][i];
		to[i].last.boot = (uint64_t)numbers[LAST_BOOT - 1][i];
	}
	return true;
}

static bool
get_seconds(struct tier_row *row, uint32_t column, struct bucket *to)
{
	double numbers[TIER_BUCKETS];

	if (!get_floats(row, column, numbers))
		return false;
	for (uint32_t i = 0; i < row->count; i++)
		to[i].seconds = numbers[i];
	return true;
}

static bool
get_shared(struct tier_row *row)
{
	int64_t steps[TIER_BUCKETS];

	if (!get_numbers(row, STEP, steps) ||
	    !get_samples(row, COUNT, row->shared) ||
	    !get_seconds(row, SECONDS, row->shared))
		return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (steps[i] < (i > 0 ? (int64_t)row->step[i - 1] + 1 : 0) ||
		    steps[i] >= TIER_BUCKETS)
			return false;
		row->step[i] = (uint32_t)steps[i];
	}
	return true;
}

/* The metrics of the row, and where their columns begin. */
static bool
get_metrics(struct tier_row *row, struct unpack *u)
{
	uint32_t column = SHARED_COLUMNS;

	row->columns = (uint32_t)get_varint_max(u, RECORD_VALUES_MAX);
	row->metrics = (uint32_t)get_varint_max(u, TIER_METRICS);
	for (uint32_t i = 0; i < row->metrics; i++) {
		uint32_t index = (uint32_t)get_varint_max(u, RECORD_VALUES_MAX);

		row->own[i] = (uint8_t)get_varint_max(u, FLAGS_MAX);
		row->metric[i] = (struct tier_metric){ index,
			(row->own[i] & IS_COUNTER) != 0, NULL };
		row->column[i] = column;
		column += METRIC_COLUMNS - (row->own[i] & GROWS ? 1 : 0);
		column += row->own[i] & OWN_SAMPLES ? OWN_COLUMNS : 0;
		column += row->own[i] & OWN_SECONDS ? 1 : 0;
	}
	return !u->bad;
}

bool
tier_is_mark(struct text value)
{
	return value.bytes == TIER_MARK_BYTES &&
	       (memcmp(value.at, TIER_UNKNOWN, TIER_MARK_BYTES) == 0 ||
		   tier_is_samples(value));
}

bool
tier_is_samples(struct text value)
{
	return value.bytes == TIER_MARK_BYTES &&
	       memcmp(value.at, TIER_SAMPLES, TIER_MARK_BYTES) == 0;
}

bool
tier_open(struct tier_row *row, struct text value)
{
	struct unpack u = unpack_of(value);

	if (row->chunk == NULL)
		row->chunk = chunk_reader_new();
	row->count = 0;
	if (!get_metrics(row, &u) ||
	    chunk_open(row->chunk, get_bytes(&u, unpack_left(&u))) !=
		CHUNK_OK ||
	    chunk_columns(row->chunk) < SHARED_COLUMNS ||
	    chunk_count(row->chunk, STEP) == 0 ||
	    chunk_count(row->chunk, STEP) > TIER_BUCKETS)
		return false;
	row->count = chunk_count(row->chunk, STEP);
	return get_shared(row);
}

static bool
get_ends(struct tier_row *row, uint32_t column, struct bucket *to)
{
	struct value values[2][TIER_BUCKETS];

	for (uint32_t c = 0; c < 2; c++)
		if (column + c >= chunk_columns(row->chunk) ||
		    chunk_count(row->chunk, column + c) != row->count ||
		    chunk_get_value(row->chunk, column + c, values[c]) !=
			CHUNK_OK)
			return false;
	for (uint32_t i = 0; i < row->count; i++) {
		if (to[i].count > 0 && (!rate_is_number(&values[0][i]) ||
					   !rate_is_number(&values[1][i])))
			return false;
		to[i].first.value = values[0][i];
		to[i].last.value = values[1][i];
	}
	return true;
}

bool
tier_read(struct tier_row *row, uint32_t metric,
    struct bucket to[static TIER_BUCKETS])
{
	double low[TIER_BUCKETS], high[TIER_BUCKETS], sum[TIER_BUCKETS];
	const struct bucket *before = NULL;
	uint32_t column = row->column[metric];
	bool grows = (row->own[metric] & GROWS) != 0;

	memcpy(to, row->shared, row->count * sizeof(*to));
	if (row->own[metric] & OWN_SAMPLES) {
		if (!get_samples(row, column, to))
			return false;
		column += OWN_COLUMNS;
	}
	if (row->own[metric] & OWN_SECONDS && !get_seconds(row, column++, to))
		return false;
	if (!get_floats(row, column + LOW, low) ||
	    !get_floats(row, column + HIGH, high) ||
	    !get_ends(row, column + FIRST, to) ||
	    (!grows && !get_floats(row, column + SUM, sum)))
		return false;
	for (uint32_t i = 0; i < row->count; i++) {
		to[i].low = low[i];
		to[i].high = high[i];
		to[i].sum = grows ? growth(before, &to[i]) : sum[i];
		if (to[i].count > 0)
			before = &to[i];
		if (!row->metric[metric].counter)
			to[i].seconds = 0;
	}
	return true;
}
