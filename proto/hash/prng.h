/*
 * prng - pseudorandom numbers that are the same on every machine.
 *
 * splitmix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
 * number generators", 2014); the state is its seed.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HASH_PRNG_H
#define PROTO_HASH_PRNG_H

#include <stdint.h>

static inline uint64_t
prng_bits(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* An integer from `least` to `most`. */
static inline int64_t
prng_between(uint64_t *state, int64_t least, int64_t most)
{
	return least +
	       (int64_t)(prng_bits(state) % (uint64_t)(most - least + 1));
}

#endif
