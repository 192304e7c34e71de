/*
 * check - what every unit test includes: cmocka with the headers it wants,
 * and a seed that is printed.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "proto/hash/prng.h"

static inline uint64_t
check_random(uint64_t *state)
{
	return prng_bits(state);
}

/* Any int64 of any size, the very ends included. */
static inline int64_t
check_int64(uint64_t *state)
{
	int64_t value =
	    (int64_t)(check_random(state) >> (check_random(state) & 63));

	return check_random(state) & 1 ? value : (int64_t) ~(uint64_t)value;
}

/* How many rounds of what is random or generated: one in $SHARE, which
 * tests/check.sh sets for slow instruments, though no fewer than show what is
 * to be shown. */
static inline unsigned
check_share(unsigned all, unsigned least)
{
	const char *text = getenv("SHARE");
	unsigned share = text ? (unsigned)strtoul(text, NULL, 10) : 1;
	unsigned rounds = all / (share > 0 ? share : 1);

	return rounds > least ? rounds : least;
}

/* From the environment variable SEED, else the clock; printed either way. */
static inline uint64_t
check_seed(void)
{
	const char *text = getenv("SEED");
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = text
		   ? strtoull(text, NULL, 0)
		   : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	print_message("seed %llu\n", (unsigned long long)seed);
	return seed;
}

#endif
