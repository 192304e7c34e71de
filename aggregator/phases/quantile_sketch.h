/*
 * quantile_sketch - mergeable quantiles of durations, accurate to one percent.
 *
 * Logarithmic buckets as in DDSketch (C. Masson, J. Rim, H. Lee: "DDSketch: A
 * Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees",
 * VLDB 2019) over integer nanoseconds: bucket i holds values in (g^(i-1), g^i]
 * with g = 1.01 / 0.99, so the middle of a bucket is within 1 % of each value
 * in it.  Zero has its own bucket; negative values are mirrored.  All int64
 * values fit and buckets are never collapsed, so removing a value is exact,
 * and the order of merging does not matter.  The bounds of buckets come from
 * repeated multiplication and are the same on every machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_QUANTILE_SKETCH_H
#define AGGREGATOR_PHASES_QUANTILE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/duration_buckets.h"
#include "proto/base/varint.h"

enum {
	QUANTILE_SKETCH_SIDE = 2190, /* buckets of one sign: g^2184 > 2^63 */
	QUANTILE_SKETCH_BUCKETS = 2 * QUANTILE_SKETCH_SIDE + 1,
};

struct quantile_sketch {
	uint64_t count;
	int low, high; /* only counts[low..high] may be nonzero; low > high:
			  none is */
	/* In ascending order of value. */
	uint64_t counts[QUANTILE_SKETCH_BUCKETS];
};

/* Initialize before first use; quantile_sketch_reset is cheap afterwards. */
void quantile_sketch_init(struct quantile_sketch *quantile_sketch);
void quantile_sketch_reset(struct quantile_sketch *quantile_sketch);

void quantile_sketch_add(
    struct quantile_sketch *quantile_sketch, int64_t value);
/* Remove a value.  If none is in its bucket, returns false and changes
 * nothing. */
bool quantile_sketch_remove(
    struct quantile_sketch *quantile_sketch, int64_t value);

/* The quantile (proto/base/quantile.h), accurate to 1 %; 0 when empty. */
double quantile_sketch_quantile(
    const struct quantile_sketch *quantile_sketch, unsigned percent);

/* How many values each of proto/base/duration_buckets.h counts: as those of a
 * bucket here are not distinguished, values up to 2 % beyond a bound, too. */
void quantile_sketch_histogram(const struct quantile_sketch *quantile_sketch,
    uint64_t counts[static DURATION_BUCKETS]);

/* The bucket of a value.  All values of a bucket have the same estimate. */
int quantile_sketch_bucket(int64_t value);

void quantile_sketch_encode(
    const struct quantile_sketch *quantile_sketch, struct buffer *to);
/* Merge an encoded sketch into `sketch`. */
void quantile_sketch_decode(
    struct quantile_sketch *quantile_sketch, struct varint_reader *from);

#endif
