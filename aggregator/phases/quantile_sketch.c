/*
 * quantile_sketch - quantiles of durations.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/quantile_sketch.h"

#include <pthread.h>
#include <string.h>

enum { MIDDLE = SKETCH_SIDE };

/* bound[i]: the largest integer of bucket i.  first[e]: the bucket of 2^e. */
static struct {
	uint64_t bound[SKETCH_SIDE];
	double upper[SKETCH_SIDE];
	int first[65];
} table;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void
make_table(void)
{
	const double gamma = 1.01 / 0.99;
	double upper = 1.0;
	int i, e;

	for (i = 0; i < SKETCH_SIDE; i++) {
		table.upper[i] = upper;
		table.bound[i] = upper < 0x1p64 ? (uint64_t)upper : UINT64_MAX;
		upper *= gamma;
	}
	for (e = 0, i = 0; e < 64; e++) {
		while (table.bound[i] < UINT64_C(1) << e)
			i++;
		table.first[e] = i;
	}
	table.first[64] = SKETCH_SIDE - 1;
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
sketch_bucket(int64_t value)
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
sketch_init(struct sketch *sketch)
{
	pthread_once(&table_once, make_table);
	memset(sketch, 0, sizeof(*sketch));
	sketch->low = SKETCH_BUCKETS;
	sketch->high = -1;
}

void
sketch_reset(struct sketch *sketch)
{
	if (sketch->low <= sketch->high)
		memset(sketch->counts + sketch->low, 0,
		    (size_t)(sketch->high - sketch->low + 1) *
			sizeof(sketch->counts[0]));
	sketch->count = 0;
	sketch->low = SKETCH_BUCKETS;
	sketch->high = -1;
}

static void
add_many(struct sketch *sketch, int bucket, uint64_t count)
{
	sketch->counts[bucket] += count;
	sketch->count += count;
	if (bucket < sketch->low)
		sketch->low = bucket;
	if (bucket > sketch->high)
		sketch->high = bucket;
}

void
sketch_add(struct sketch *sketch, int64_t value)
{
	add_many(sketch, sketch_bucket(value), 1);
}

bool
sketch_remove(struct sketch *sketch, int64_t value)
{
	int bucket = sketch_bucket(value);

	if (sketch->counts[bucket] == 0)
		return false;
	sketch->counts[bucket]--;
	sketch->count--;
	return true;
}

double
sketch_quantile(const struct sketch *sketch, double q)
{
	uint64_t rank, before = 0;
	int i;

	if (sketch->count == 0)
		return 0;
	q = q < 0 ? 0 : q > 1 ? 1 : q;
	rank = (uint64_t)(q * (double)(sketch->count - 1));
	for (i = sketch->low; i < sketch->high; i++) {
		before += sketch->counts[i];
		if (before > rank)
			break;
	}
	return bucket_value(i);
}

void
sketch_encode(const struct sketch *sketch, struct buffer *to)
{
	uint64_t filled = 0;
	int i, last = 0;

	for (i = sketch->low; i <= sketch->high; i++)
		filled += sketch->counts[i] != 0;
	put_varint(to, filled);
	for (i = sketch->low; i <= sketch->high; i++) {
		if (sketch->counts[i] == 0)
			continue;
		put_varint(to, (uint64_t)(i - last));
		put_varint(to, sketch->counts[i]);
		last = i;
	}
}

void
sketch_decode(struct sketch *sketch, struct unpack *from)
{
	uint64_t filled = get_varint_max(from, SKETCH_BUCKETS), bucket = 0;

	while (filled-- > 0 && !from->bad) {
		bucket += get_varint_max(from, SKETCH_BUCKETS - 1 - bucket);
		add_many(sketch, (int)bucket, get_varint(from));
	}
}
