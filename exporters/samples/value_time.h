/*
 * value_time - for how long the values of a gauge count in a mean by time.
 *
 * A value counts until the next one.  If that is more than twice the longer of
 * the gaps before and after, the node was away, and the value counts for that
 * longer gap.  The last value counts as long as the one before it; of a single
 * value nothing is known.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_VALUE_TIME_H
#define EXPORTERS_SAMPLES_VALUE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The values whose time is not known yet.  All zero: none. */
struct value_time {
	bool holds;      /* a value counts until the next one, however late */
	uint8_t pending; /* 0 .. 2 */
	int64_t time_ns[2];
	double value[2];
	int64_t before_ns; /* the gap before the first of them; 0: none */
};

/* A value and the time for which it counts. */
struct value_time_part {
	double value;
	uint64_t ns;
};

/* The next value, in the order of time.  True: `part` is set, for an earlier
 * one. */
bool value_time_put(struct value_time *value_time, int64_t time_ns,
    double value, struct value_time_part *part);

/* What is left at the end; returns how many: 0 or 2.  A single value remains
 * pending. */
unsigned value_time_end(
    struct value_time *value_time, struct value_time_part parts[static 2]);

#endif
