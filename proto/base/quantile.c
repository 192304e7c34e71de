/*
 * quantile - which value of a list is its quantile.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/quantile.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* A part of the number that has the order of the value. */
static unsigned
digit_of(double value, unsigned shift)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits ^= bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63;
	return bits >> shift & (DIGITS - 1);
}

/* Move the values with this digit to the front; returns how many. */
static uint64_t
keep(double *values, uint64_t count, unsigned shift, unsigned digit)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < count; i++) {
		double value = values[i];

		if (digit_of(value, shift) != digit)
			continue;
		values[i] = values[kept];
		values[kept++] = value;
	}
	return kept;
}

/* Digit by digit, the first one first: of those that have it at this rank the
 * next one is looked at. */
double
quantile_select(double *values, uint64_t count, unsigned percent)
{
	uint64_t rank = quantile_index(count, percent);

	for (unsigned shift = 64; shift > 0 && count > 1;) {
		uint64_t have[DIGITS] = { 0 };
		unsigned digit = 0;

		shift -= DIGIT_BITS;
		for (uint64_t i = 0; i < count; i++)
			have[digit_of(values[i], shift)]++;
		while (rank >= have[digit])
			rank -= have[digit++];
		if (have[digit] < count)
			count = keep(values, count, shift, digit);
	}
	return values[0];
}
