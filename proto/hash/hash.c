/*
 * hash - SipHash-2-4, random bytes, the running hash of a stream.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static inline uint64_t
rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline void
round_of(struct state *s)
{
	s->v0 += s->v1;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
}

static inline void
absorb(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	round_of(s);
	round_of(s);
	s->v0 ^= word;
}

uint64_t
hash_bytes(struct hash_key key, const void *at, size_t bytes)
{
	const unsigned char *p = at;
	uint64_t word, last = (uint64_t)bytes << 56;
	struct state s = { key.k0 ^ UINT64_C(0x736f6d6570736575),
		key.k1 ^ UINT64_C(0x646f72616e646f6d),
		key.k0 ^ UINT64_C(0x6c7967656e657261),
		key.k1 ^ UINT64_C(0x7465646279746573) };

	for (; bytes >= 8; p += 8, bytes -= 8) {
		memcpy(&word, p, 8);
		absorb(&s, word);
	}
	for (size_t i = 0; i < bytes; i++)
		last |= (uint64_t)p[i] << 8 * i;
	absorb(&s, last);
	s.v2 ^= 0xFF;
	for (int i = 0; i < 4; i++)
		round_of(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

void
hash_random_bytes(void *to, size_t bytes)
{
	unsigned char *p = to;

	while (bytes > 0) {
		size_t n = bytes < 256 ? bytes : 256;

		/* getrandom(2) returns up to 256 bytes completely or not at
		 * all. */
		if (getrandom(p, n, 0) != (ssize_t)n) {
			perror("getrandom");
			abort();
		}
		p += n;
		bytes -= n;
	}
}

struct hash_key
hash_key_random(void)
{
	struct hash_key key;

	hash_random_bytes(&key, sizeof(key));
	return key;
}

/* The finalizer of MurmurHash3 mixes every bit into every other. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

uint64_t
hash_chain(
    uint64_t chain, uint32_t body_crc32c, uint32_t body_bytes, uint32_t records)
{
	chain = mix(chain ^ ((uint64_t)body_crc32c << 32 | body_bytes));
	return mix(chain + records + 1);
}
