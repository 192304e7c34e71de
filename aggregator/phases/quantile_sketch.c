/*
 * quantile_sketch - quantiles of durations.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/quantile_sketch.h"

#include "proto/base/quantile.h"

#include <pthread.h>
#include <string.h>

enum { MIDDLE = QUANTILE_SKETCH_SIDE };

/* bound[i]: the largest integer of bucket i.  first[e]: the bucket of 2^e. */
static struct {
	uint64_t bound[QUANTILE_SKETCH_SIDE];
	double upper[QUANTILE_SKETCH_SIDE];
	int first[65];
} table;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void
make_table(void)
{
	const double gamma = 1.01 / 0.99;
	double upper = 1.0;
	int i, e;

	for (i = 0; i < QUANTILE_SKETCH_SIDE; i++) {
		table.upper[i] = upper;
		table.bound[i] = upper < 0x1p64 ? (uint64_t)upper : UINT64_MAX;
		upper *= gamma;
	}
	for (e = 0, i = 0; e < 64; e++) {
		while (table.bound[i] < UINT64_C(1) << e)
			i++;
		table.first[e] = i;
	}
	table.first[64] = QUANTILE_SKETCH_SIDE - 1;
}

/* The smallest i with bound[i] >= size. */
static int
bucket_of(uint64_t size)
{
	int e = 63 - __builtin_clzll(size);
	int low = table.first[e], high = table.first[e + 1];

	while (low < high) {
		int middle = (low + high) / 2;

		if (table.bound[middle] >= size)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int
quantile_sketch_bucket(int64_t value)
{
	pthread_once(&table_once, make_table);
	if (value > 0)
		return MIDDLE + 1 + bucket_of((uint64_t)value);
	if (value < 0)
		return MIDDLE - 1 - bucket_of(~(uint64_t)value + 1);
	return MIDDLE;
}

static double
bucket_value(int bucket)
{
	/* 2 g^i / (g + 1) with g = 1.01 / 0.99 */
	if (bucket > MIDDLE)
		return table.upper[bucket - MIDDLE - 1] * 0.99;
	if (bucket < MIDDLE)
		return table.upper[MIDDLE - 1 - bucket] * -0.99;
	return 0;
}

void
quantile_sketch_init(struct quantile_sketch *quantile_sketch)
{
	pthread_once(&table_once, make_table);
	memset(quantile_sketch, 0, sizeof(*quantile_sketch));
	quantile_sketch->low = QUANTILE_SKETCH_BUCKETS;
	quantile_sketch->high = -1;
}

void
quantile_sketch_reset(struct quantile_sketch *quantile_sketch)
{
	if (quantile_sketch->low <= quantile_sketch->high)
		memset(quantile_sketch->counts + quantile_sketch->low, 0,
		    (size_t)(quantile_sketch->high - quantile_sketch->low + 1) *
			sizeof(quantile_sketch->counts[0]));
	quantile_sketch->count = 0;
	quantile_sketch->low = QUANTILE_SKETCH_BUCKETS;
	quantile_sketch->high = -1;
}

static void
add_many(struct quantile_sketch *quantile_sketch, int bucket, uint64_t count)
{
	quantile_sketch->counts[bucket] += count;
	quantile_sketch->count += count;
	if (bucket < quantile_sketch->low)
		quantile_sketch->low = bucket;
	if (bucket > quantile_sketch->high)
		quantile_sketch->high = bucket;
}

void
quantile_sketch_add(struct quantile_sketch *quantile_sketch, int64_t value)
{
	add_many(quantile_sketch, quantile_sketch_bucket(value), 1);
}

bool
quantile_sketch_remove(struct quantile_sketch *quantile_sketch, int64_t value)
{
	int bucket = quantile_sketch_bucket(value);

	if (quantile_sketch->counts[bucket] == 0)
		return false;
	quantile_sketch->counts[bucket]--;
	quantile_sketch->count--;
	return true;
}

double
quantile_sketch_quantile(
    const struct quantile_sketch *quantile_sketch, unsigned percent)
{
	uint64_t rank, before = 0;
	int i;

	if (quantile_sketch->count == 0)
		return 0;
	rank = quantile_index(quantile_sketch->count, percent);
	for (i = quantile_sketch->low; i < quantile_sketch->high; i++) {
		before += quantile_sketch->counts[i];
		if (before > rank)
			break;
	}
	return bucket_value(i);
}

void
quantile_sketch_histogram(const struct quantile_sketch *quantile_sketch,
    uint64_t counts[static DURATION_BUCKETS])
{
	uint64_t before = 0;
	int at = quantile_sketch->low;

	for (int i = 0; i < DURATION_BUCKETS; i++) {
		int last = quantile_sketch_bucket(duration_buckets[i].ns);

		for (; at <= last && at <= quantile_sketch->high; at++)
			before += quantile_sketch->counts[at];
		counts[i] = before;
	}
}

void
quantile_sketch_encode(
    const struct quantile_sketch *quantile_sketch, struct buffer *to)
{
	uint64_t filled = 0;
	int i, last = 0;

	for (i = quantile_sketch->low; i <= quantile_sketch->high; i++)
		filled += quantile_sketch->counts[i] != 0;
	varint_put(to, filled);
	for (i = quantile_sketch->low; i <= quantile_sketch->high; i++) {
		if (quantile_sketch->counts[i] == 0)
			continue;
		varint_put(to, (uint64_t)(i - last));
		varint_put(to, quantile_sketch->counts[i]);
		last = i;
	}
}

void
quantile_sketch_decode(
    struct quantile_sketch *quantile_sketch, struct varint_reader *from)
{
	uint64_t filled = varint_get_max(from, QUANTILE_SKETCH_BUCKETS),
		 bucket = 0;

	while (filled-- > 0 && !from->bad) {
		bucket +=
		    varint_get_max(from, QUANTILE_SKETCH_BUCKETS - 1 - bucket);
		add_many(quantile_sketch, (int)bucket, varint_get(from));
	}
}
