/*
 * blake2b - BLAKE2b without a key, of one piece of memory.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/blake2b.h"

#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 128, ROUNDS = 12 };

static const uint64_t iv[8] = { 0x6a09e667f3bcc908, 0xbb67ae8584caa73b,
	0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1,
	0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179 };

/* RFC 7693, 2.7; the last two rounds repeat the first two. */
static const uint8_t sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t
rotated(uint64_t word, unsigned bits)
{
	return word >> bits | word << (64 - bits);
}

/* Inlined, so that all numbers but the rounds' are constants: twice as fast. */
__attribute__((always_inline)) static inline void
mix(uint64_t v[static 16], unsigned column, unsigned turn, uint64_t x,
    uint64_t y)
{
	uint64_t *a = &v[column], *b = &v[4 + (column + turn) % 4];
	uint64_t *c = &v[8 + (column + 2 * turn) % 4];
	uint64_t *d = &v[12 + (column + 3 * turn) % 4];

	*a += *b + x;
	*d = rotated(*d ^ *a, 32);
	*c += *d;
	*b = rotated(*b ^ *c, 24);
	*a += *b + y;
	*d = rotated(*d ^ *a, 16);
	*c += *d;
	*b = rotated(*b ^ *c, 63);
}

/* `hashed`: bytes up to the end of this block. */
static void
compress(uint64_t h[static 8], const unsigned char block[static BLOCK_BYTES],
    uint64_t hashed, int last)
{
	uint64_t v[16], m[16];

	memcpy(m, block, sizeof(m));
	for (unsigned i = 0; i < 16; i++)
		m[i] = le64toh(m[i]);
	memcpy(v, h, sizeof(iv));
	memcpy(v + 8, iv, sizeof(iv));
	v[12] ^= hashed;
	if (last)
		v[14] = ~v[14];
	for (unsigned round = 0; round < ROUNDS; round++) {
		const uint8_t *s = sigma[round % 10];

#pragma GCC unroll 8
		for (unsigned i = 0; i < 8; i++)
			mix(v, i % 4, i / 4, m[s[2 * i]], m[s[2 * i + 1]]);
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] ^= v[i] ^ v[i + 8];
}

void
blake2b(void *to, size_t to_bytes, const void *from, size_t bytes)
{
	unsigned char last[BLOCK_BYTES] = { 0 };
	const unsigned char *at = from;
	uint64_t h[8];
	size_t done = 0;

	assert(to_bytes > 0 && to_bytes <= BLAKE2B_BYTES_MAX);
	memcpy(h, iv, sizeof(h));
	h[0] ^= 0x01010000 ^ to_bytes;
	for (; bytes - done > BLOCK_BYTES; done += BLOCK_BYTES)
		compress(h, at + done, done + BLOCK_BYTES, 0);
	if (bytes > done)
		memcpy(last, at + done, bytes - done);
	compress(h, last, bytes, 1);
	for (unsigned i = 0; i < 8; i++)
		h[i] = htole64(h[i]);
	memcpy(to, h, to_bytes);
}
