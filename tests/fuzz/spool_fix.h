/*
 * spool_fix - makes the checksums of a segment right, so that they do not
 * keep the fuzzer out.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FUZZ_SPOOL_FIX_H
#define TESTS_FUZZ_SPOOL_FIX_H

#include "agents/spool_frame.h"
#include "proto/crc32c.h"

static inline uint32_t
spool_fix_crc(const unsigned char *at, const unsigned char *salt, size_t span)
{
	unsigned char salted[16];

	memcpy(salted, salt, 8);
	memcpy(salted + 8, at, 8);
	return crc32c_table(crc32c_table(0, salted, 16), at + 12, span - 12);
}

/* The header, and every frame that a magic begins and the segment holds. */
static inline void
spool_fix_segment(unsigned char *at, size_t size)
{
	if (size < SPOOL_HEAD_BYTES)
		return;
	spool_put32(at + 60, crc32c_table(0, at, 60));
	for (size_t o = SPOOL_HEAD_BYTES; o + SPOOL_FRAME_BYTES <= size;) {
		uint32_t bytes = spool_get32(at + o + 4);

		if (memcmp(at + o, "PSFR", 4) != 0 ||
		    bytes > size - o - SPOOL_FRAME_BYTES ||
		    spool_span(bytes) > size - o) {
			o += 8;
			continue;
		}
		spool_put32(at + o + 8,
		    spool_fix_crc(at + o, at + 32, spool_span(bytes)));
		o += spool_span(bytes);
	}
}

#endif
