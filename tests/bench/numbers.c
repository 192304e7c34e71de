/*
 * numbers - doubles as text: the shortest digits of random bits, and times
 * with three and six decimals, next to printf's 17 digits, which are neither
 * short nor found.  The limit for random bits is 200 ns.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { VALUES = 20000, ROUNDS = 25 };

static double values[VALUES];
static size_t sink; /* what was written, so that it is */

static size_t
with_printf(char *to, double value)
{
	return (size_t)snprintf(to, NUMBER_BYTES, "%.17g", value);
}

static double
measure(size_t (*write)(char *, double))
{
	char text[NUMBER_BYTES];
	int64_t best = INT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t began = clock_monotonic_ns(), took;

		for (int i = 0; i < VALUES; i++)
			sink += write(text, values[i]);
		took = clock_monotonic_ns() - began;
		best = took < best ? took : best;
	}
	return (double)best / VALUES;
}

static size_t
with_number(char *to, double value)
{
	return number_repr(to, value);
}

static void
row(const char *name)
{
	printf("%-16s %5.0f ns, printf %5.0f ns\n", name, measure(with_number),
	    measure(with_printf));
}

int
main(void)
{
	uint64_t state = 20;

	for (int i = 0; i < VALUES; i++) {
		do {
			uint64_t bits = prng_bits(&state);

			memcpy(&values[i], &bits, sizeof(bits));
		} while (!isfinite(values[i]));
	}
	row("random bits");
	for (int i = 0; i < VALUES; i++)
		values[i] = (double)(prng_bits(&state) % 100000000) / 1e3;
	row("three decimals");
	for (int i = 0; i < VALUES; i++)
		values[i] = (double)(prng_bits(&state) % 1000000000) / 1e6;
	row("six decimals");
	for (int i = 0; i < VALUES; i++)
		values[i] = (double)(prng_bits(&state) >> 20) / 1e9;
	row("nine decimals");
	return sink == 0;
}
