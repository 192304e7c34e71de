/*
 * hash - SipHash-2-4 for tables with keys from untrusted peers, random bytes,
 * and the running hash of a stream.
 *
 * J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HASH_HASH_H
#define PROTO_HASH_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t k0, k1;
};

uint64_t hash_bytes(struct hash_key key, const void *at, size_t bytes);

/* Random bytes from getrandom(2); ends the process when the kernel has none. */
void hash_random_bytes(void *to, size_t bytes);
struct hash_key hash_key_random(void);

/* One step of the running hash over the batches of a stream: identifies the
 * stream's content up to and including a batch whose body has this checksum
 * and length.  Two histories that differ once differ from then on. */
uint64_t hash_chain(uint64_t chain, uint32_t body_crc32c, uint32_t body_bytes,
    uint32_t records);

#endif
