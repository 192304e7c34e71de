/*
 * quantile_sketch - quantiles of durations, mergeable, within one percent.
 *
 * Logarithmic buckets as in DDSketch (C. Masson, J. Rim, H. Lee: "DDSketch: A
 * Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees",
 * VLDB 2019) over integer nanoseconds: bucket i holds values in (g^(i-1), g^i]
 * with g = 1.01 / 0.99, so that the middle of a bucket is at most 1 % from all
 * in it.  Zero has a bucket of its own, negative values are mirrored.  All of
 * int64 fits, nothing is ever collapsed; hence taking a value out again is
 * exact, and merging in any order gives the same.  Bounds of buckets come from
 * repeated multiplication, the same on every machine.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_QUANTILE_SKETCH_H
#define AGGREGATOR_PHASES_QUANTILE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/varint.h"

enum {
	QUANTILE_SKETCH_SIDE = 2190, /* buckets of one sign: g^2184 > 2^63 */
	QUANTILE_SKETCH_BUCKETS = 2 * QUANTILE_SKETCH_SIDE + 1,
};

struct quantile_sketch {
	uint64_t count;
	int low, high; /* only counts[low..high] may be set; low > high: none */
	uint64_t counts[QUANTILE_SKETCH_BUCKETS]; /* ascending by value */
};

/* Make ready for first use: after it `quantile_sketch_reset` is cheap. */
void quantile_sketch_init(struct quantile_sketch *quantile_sketch);
void quantile_sketch_reset(struct quantile_sketch *quantile_sketch);

void quantile_sketch_add(
    struct quantile_sketch *quantile_sketch, int64_t value);
/* False when no such value is in it: then nothing was changed. */
bool quantile_sketch_remove(
    struct quantile_sketch *quantile_sketch, int64_t value);

/* The value of rank q * (count - 1), within 1 %; 0 <= q <= 1; 0 when empty. */
double quantile_sketch_quantile(
    const struct quantile_sketch *quantile_sketch, double q);

/* In which bucket a value is: same bucket, same estimate. */
int quantile_sketch_bucket(int64_t value);

void quantile_sketch_encode(
    const struct quantile_sketch *quantile_sketch, struct buffer *to);
/* Merges what is encoded into `sketch`. */
void quantile_sketch_decode(
    struct quantile_sketch *quantile_sketch, struct unpack *from);

#endif
