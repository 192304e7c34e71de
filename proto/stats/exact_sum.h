/*
 * exact_sum - a sum of numbers without rounding.
 *
 * The sum of values, each taken a whole number of times, is an integer of as
 * many bits as it needs (up to 2,400: all that a double can be).  Therefore it
 * does not depend on the order in which they were added, nor on whether a whole
 * number was added at once or in parts.  Only exact_sum_get rounds.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_STATS_EXACT_SUM_H
#define PROTO_STATS_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed nothing was added. */
struct exact_sum {
	uint64_t *words; /* of 64 bits, least first, a two's complement */
	int16_t low;     /* the first one counts 2^(64 x low) */
	uint8_t count;
	bool known;   /* something was added ... */
	bool unknown; /* ... that is not finite */
};

void exact_sum_clear(struct exact_sum *sum);

/* Add value x times. */
void exact_sum_add(struct exact_sum *sum, double value, uint64_t times);

/* NaN: nothing was added, or what is not finite. */
long double exact_sum_get(const struct exact_sum *sum);

#endif
