/*
 * spool_fix - makes the checksums of a spool's files right, so that they do
 * not keep the fuzzer out; and takes several files from one input.  Mends by
 * the processor's instruction; who judges takes judge_crc.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_SPOOL_FIX_H
#define TESTS_FUZZ_SPOOL_FIX_H

#include <sys/types.h>

#include "agents/spool/frame.h"
#include "proto/hash/crc32c.h"

static inline uint32_t
spool_fix_crc(uint32_t (*crc)(uint32_t, const void *, size_t),
    const unsigned char *at, const unsigned char *salt, size_t span)
{
	unsigned char salted[16];

	memcpy(salted, salt, 8);
	memcpy(salted + 8, at, 8);
	return crc(crc(0, salted, 16), at + 12, span - 12);
}

/* The headers, and every frame that a magic begins and the segment holds. */
static inline void
spool_fix_segment(unsigned char *at, size_t size)
{
	if (size < SPOOL_HEAD_BYTES)
		return;
	spool_put32(at + 60, crc32c(0, at, 60));
	spool_put32(
	    at + SPOOL_HEAD_COPY + 60, crc32c(0, at + SPOOL_HEAD_COPY, 60));
	for (size_t o = SPOOL_HEAD_BYTES; o + SPOOL_FRAME_BYTES <= size;) {
		uint32_t bytes = spool_get32(at + o + 4);

		if (memcmp(at + o, "PSFR", 4) != 0 ||
		    bytes > size - o - SPOOL_FRAME_BYTES ||
		    spool_span(bytes) > size - o) {
			o += 8;
			continue;
		}
		spool_put32(at + o + 8,
		    spool_fix_crc(crc32c, at + o, at + 32, spool_span(bytes)));
		o += spool_span(bytes);
	}
}

/* One slot of ACKED. */
static inline void
spool_fix_slot(unsigned char *at, size_t size)
{
	size_t all = size > 28 ? 32 + spool_get32(at + 24) % 1025 * 40 : size;

	if (all + 4 <= size)
		spool_put32(at + all, crc32c(0, at, all));
}

/* The next piece of an input behind its length (two bytes, little-endian), cut
 * at `max`: its bytes, -1 at the end. */
static inline ssize_t
spool_fix_piece(
    const uint8_t **at, const uint8_t *end, unsigned char *to, size_t max)
{
	size_t n;

	if (end - *at < 2)
		return -1;
	n = (*at)[0] | (size_t)(*at)[1] << 8;
	*at += 2;
	if (n > (size_t)(end - *at))
		n = (size_t)(end - *at);
	if (n > max)
		n = max;
	memcpy(to, *at, n);
	*at += n;
	return (ssize_t)n;
}

#endif
