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
	SKETCH_SIDE = 2190, /* buckets of one sign: g^2184 > 2^63 */
	SKETCH_BUCKETS = 2 * SKETCH_SIDE + 1,
};

struct sketch {
	uint64_t count;
	int low, high; /* only counts[low..high] may be set; low > high: none */
	uint64_t counts[SKETCH_BUCKETS]; /* ascending by value */
};

/* Make ready for first use: after it `sketch_reset` is cheap. */
void sketch_init(struct sketch *sketch);
void sketch_reset(struct sketch *sketch);

void sketch_add(struct sketch *sketch, int64_t value);
/* False when no such value is in it: then nothing was changed. */
bool sketch_remove(struct sketch *sketch, int64_t value);

/* The value of rank q * (count - 1), within 1 %; 0 <= q <= 1; 0 when empty. */
double sketch_quantile(const struct sketch *sketch, double q);

/* In which bucket a value is: same bucket, same estimate. */
int sketch_bucket(int64_t value);

void sketch_encode(const struct sketch *sketch, struct buffer *to);
/* Merges what is encoded into `sketch`. */
void sketch_decode(struct sketch *sketch, struct unpack *from);

#endif
