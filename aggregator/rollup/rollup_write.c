/*
 * rollup_write - writing buckets as columns.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_private.h"

#include <assert.h>

#define SUM_ERROR    1e-12 /* relative rounding error of a sum of decimals */
#define GROWTH_ERROR 1e-9  /* relative rounding error of an increase */

/* What is written: the steps of all nodes in which any metric has samples, one
 * after another. */
struct rows {
	const struct rollup_metric *metric;
	uint32_t metrics, buckets;
	uint32_t count;
	uint32_t step[ROLLUP_ROWS];
	const struct bucket *first[ROLLUP_ROWS]; /* of the first metric */
};

static const struct bucket *
bucket_of(const struct rows *rows, uint32_t metric, uint32_t row)
{
	return rows->first[row] + (size_t)metric * rows->buckets;
}

static bool
has_samples(const struct rows *rows, const struct bucket *first)
{
	for (uint32_t m = 0; m < rows->metrics; m++)
		if (first[(size_t)m * rows->buckets].count > 0)
			return true;
	return false;
}

/* Add the steps of a node; returns how many. */
static uint32_t
add_node(struct rows *rows, const struct rollup_node *node)
{
	uint32_t before = rows->count;

	for (uint32_t i = 0; i < rows->buckets && !node->columns.later; i++) {
		if (!has_samples(rows, &node->bucket[i]))
			continue;
		rows->step[rows->count] = i;
		rows->first[rows->count++] = &node->bucket[i];
	}
	return rows->count - before;
}

/* ---- rounding ---- */

/* Round down or up, so that the rounded range contains the original one. */
static double
round_rate(double rate, bool up)
{
	uint64_t rest = (UINT64_C(1) << ROLLUP_RATE_SHIFT) - 1, bits;
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

void
rollup_round(struct bucket *bucket, bool counter)
{
	if (bucket->count == 0)
		return;
	if (counter) {
		bucket->low = round_rate(bucket->low, false);
		bucket->high = round_rate(bucket->high, true);
	}
	bucket->sum = round_sum(bucket->sum);
}

/* ---- which columns ---- */

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
only_grows(const struct bucket *bucket)
{
	double error;

	if (bucket->count == 0)
		return true;
	error = fabs(rollup_growth(bucket) - bucket->sum);
	return error <= GROWTH_ERROR * fabs(bucket->sum) || error == 0;
}

/* The columns in which a metric differs from the common ones. */
static unsigned
flags_of(const struct rows *rows, uint32_t metric, uint32_t common)
{
	bool counter = rows->metric[metric].counter;
	unsigned flags = counter ? ROLLUP_COUNTER | ROLLUP_GROWS : 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct bucket *a = bucket_of(rows, metric, i);
		const struct bucket *b = bucket_of(rows, common, i);

		if (!same_samples(a, b))
			flags |= ROLLUP_OWN_SAMPLES;
		if (!counter)
			continue;
		if (!only_grows(a))
			flags &= ~(unsigned)ROLLUP_GROWS;
		if (a->count > 0 &&
		    (b->count == 0 || !same_bits(a->seconds, b->seconds)))
			flags |= ROLLUP_OWN_SECONDS;
	}
	return flags;
}

/* ---- columns ---- */

static int64_t
whole(const struct bucket *bucket, enum rollup_shared column)
{
	if (bucket->count == 0)
		return 0;
	switch (column) {
	case ROLLUP_COUNT: return (int64_t)bucket->count;
	case ROLLUP_FIRST_NS: return bucket->first.time_ns;
	case ROLLUP_LAST_NS:
		return (int64_t)((uint64_t)bucket->last.time_ns -
				 (uint64_t)bucket->first.time_ns);
	case ROLLUP_FIRST_BOOT: return (int64_t)bucket->first.boot;
	default: return (int64_t)bucket->last.boot;
	}
}

static void
put_samples(
    struct chunk_writer *chunk, const struct rows *rows, uint32_t metric)
{
	int64_t numbers[ROLLUP_ROWS];

	for (enum rollup_shared c = ROLLUP_COUNT; c <= ROLLUP_LAST_BOOT; c++) {
		for (uint32_t i = 0; i < rows->count; i++)
			numbers[i] = whole(bucket_of(rows, metric, i), c);
		chunk_put_int(chunk, numbers, rows->count);
	}
}

static void
put_seconds(
    struct chunk_writer *chunk, const struct rows *rows, uint32_t metric)
{
	double numbers[ROLLUP_ROWS];

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct bucket *b = bucket_of(rows, metric, i);

		numbers[i] = b->count > 0 ? b->seconds : 0;
	}
	chunk_put_float(chunk, numbers, rows->count);
}

static void
put_numbers(struct chunk_writer *chunk, const struct rows *rows,
    uint32_t metric, enum rollup_own column)
{
	double numbers[ROLLUP_ROWS];

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct bucket *b = bucket_of(rows, metric, i);

		numbers[i] = b->count == 0           ? 0
			     : column == ROLLUP_LOW  ? b->low
			     : column == ROLLUP_HIGH ? b->high
						     : b->sum;
	}
	chunk_put_float(chunk, numbers, rows->count);
}

/* The numbers of a metric that are no decimals. */
static void
put_plain(struct chunk_writer *chunk, const struct rows *rows, uint32_t metric,
    bool grows)
{
	struct value values[ROLLUP_ROWS];

	put_numbers(chunk, rows, metric, ROLLUP_LOW);
	put_numbers(chunk, rows, metric, ROLLUP_HIGH);
	for (enum rollup_own c = ROLLUP_FIRST; c <= ROLLUP_LAST; c++) {
		for (uint32_t i = 0; i < rows->count; i++) {
			const struct bucket *b = bucket_of(rows, metric, i);

			values[i] = (struct value){ .type = VALUE_NIL };
			if (b->count > 0)
				values[i] = c == ROLLUP_FIRST ? b->first.value
							      : b->last.value;
		}
		chunk_put_value(chunk, values, rows->count);
	}
	if (!grows)
		put_numbers(chunk, rows, metric, ROLLUP_SUM);
}

static void
put_metric(struct chunk_writer *chunk, struct buffer *value,
    const struct rows *rows, uint32_t metric, uint32_t common)
{
	unsigned flags = flags_of(rows, metric, common);
	const struct bucket *full[ROLLUP_ROWS];
	uint32_t count = 0;
	uint8_t decimal;

	if (flags & ROLLUP_OWN_SAMPLES)
		put_samples(chunk, rows, metric);
	if (flags & ROLLUP_OWN_SECONDS)
		put_seconds(chunk, rows, metric);
	for (uint32_t i = 0; i < rows->count; i++) {
		full[count] = bucket_of(rows, metric, i);
		count += full[count]->count > 0;
	}
	varint_put(value, rows->metric[metric].index);
	if (rollup_put_decimals(chunk, full, count, flags, &decimal)) {
		varint_put(value, flags | ROLLUP_DECIMAL);
		varint_put(value, decimal);
		return;
	}
	varint_put(value, flags);
	put_plain(chunk, rows, metric, (flags & ROLLUP_GROWS) != 0);
}

static void
put_shared(struct chunk_writer *chunk, const struct rows *rows, uint32_t common)
{
	int64_t steps[ROLLUP_ROWS];

	for (uint32_t i = 0; i < rows->count; i++)
		steps[i] = rows->step[i];
	chunk_put_int(chunk, steps, rows->count);
	put_samples(chunk, rows, common);
	put_seconds(chunk, rows, common);
}

/* ---- a row ---- */

/* Put the columns of the nodes that have buckets or a mark; returns how many
 * there are. */
static uint32_t
put_nodes(struct chunk_writer *chunk, struct rows *rows,
    const struct rollup_node *node, uint32_t nodes)
{
	int64_t columns[ROLLUP_NODE_COLUMNS][ROLLUP_NODES];
	uint32_t count = 0;

	for (uint32_t k = 0; k < nodes; k++) {
		const struct rollup_columns *made = &node[k].columns;
		uint32_t buckets = add_node(rows, &node[k]);

		if (buckets == 0 && !made->lacking && !made->later)
			continue;
		columns[ROLLUP_NODE][count] = node[k].node;
		columns[ROLLUP_NODE_BUCKETS][count] = buckets;
		columns[ROLLUP_NODE_MARKS][count++] =
		    (int64_t)made->defined * ROLLUP_MARKS +
		    (made->lacking ? ROLLUP_LACKING : 0) +
		    (made->later ? ROLLUP_LATER : 0);
	}
	for (unsigned c = 0; c < ROLLUP_NODE_COLUMNS; c++)
		chunk_put_int(chunk, columns[c], count);
	return count;
}

struct text
rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics,
    const struct rollup_node *node, uint32_t nodes, uint32_t buckets)
{
	struct rows rows = { metric, metrics, buckets, 0, { 0 }, { NULL } };
	uint32_t common = 0;
	struct text bytes;

	assert(nodes <= ROLLUP_NODES && metrics <= ROLLUP_METRICS &&
	       buckets <= ROLLUP_BUCKETS);
	value->bytes = 0;
	chunk_begin(chunk);
	if (put_nodes(chunk, &rows, node, nodes) == 0)
		return (struct text){ NULL, 0 };
	varint_put(value, rows.count > 0 ? metrics : 0);
	if (rows.count > 0) {
		/* Only counters have seconds: take the common ones from a
		 * counter. */
		while (common + 1 < metrics && !metric[common].counter)
			common++;
		put_shared(chunk, &rows, common);
		for (uint32_t m = 0; m < metrics; m++)
			put_metric(chunk, value, &rows, m, common);
	}
	bytes = chunk_end(chunk);
	buffer_put(value, bytes.at, bytes.bytes);
	return buffer_text(value);
}
