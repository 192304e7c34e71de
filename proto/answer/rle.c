/*
 * rle - small numbers as runs: of one number, or of packed bits.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/rle.h"

#include <endian.h>

#include "proto/base/varint.h"

/* Packed numbers come in eights, and a shorter run is not worth leaving them.
 */
enum { EIGHT = 8 };

unsigned
rle_width(uint32_t max)
{
	return max == 0 ? 0 : 32 - (unsigned)__builtin_clz(max);
}

static void
put_run(struct buffer *to, uint32_t number, uint32_t count, unsigned width)
{
	uint32_t bytes = htole32(number);

	varint_put(to, (uint64_t)count << 1);
	buffer_put(to, &bytes, (width + 7) / 8);
}

/* Of the last eight, what is missing is 0. */
static void
put_packed(
    struct buffer *to, const uint32_t *numbers, uint32_t count, unsigned width)
{
	uint32_t eights = (count + EIGHT - 1) / EIGHT;
	size_t bytes = (size_t)eights * width;
	uint64_t waiting = 0;
	unsigned bits = 0;
	unsigned char *at;

	if (count == 0)
		return;
	varint_put(to, (uint64_t)eights << 1 | 1);
	at = buffer_need(to, bytes + sizeof(waiting));
	memset(at, 0, bytes);
	to->bytes += bytes;
	for (uint32_t i = 0; i < count; i++) {
		waiting |= (uint64_t)numbers[i] << bits;
		bits += width;
		if (bits >= 32) {
			uint32_t word = htole32((uint32_t)waiting);

			memcpy(at, &word, sizeof(word));
			at += sizeof(word);
			waiting >>= 32;
			bits -= 32;
		}
	}
	for (; bits > 0; bits -= bits < 8 ? bits : 8) {
		*at++ = (unsigned char)waiting;
		waiting >>= 8;
	}
}

void
rle_put(
    struct buffer *to, const uint32_t *numbers, uint32_t count, unsigned width)
{
	uint32_t packed = 0, i = 0; /* from `packed` on they wait */

	while (i < count) {
		uint32_t end = i + 1, fill;

		while (end < count && numbers[end] == numbers[i])
			end++;
		fill = (EIGHT - (i - packed) % EIGHT) % EIGHT;
		if (end - i >= fill + EIGHT) {
			i += fill;
			put_packed(to, numbers + packed, i - packed, width);
			put_run(to, numbers[i], end - i, width);
			packed = end;
		}
		i = end;
	}
	put_packed(to, numbers + packed, count - packed, width);
}

void
rle_put_same(struct buffer *to, bool bit, uint32_t count)
{
	put_run(to, bit, count, 1);
}

void
rle_put_bits(struct buffer *to, const unsigned char *bits, uint32_t count)
{
	uint32_t bytes = (count + EIGHT - 1) / EIGHT;

	varint_put(to, (uint64_t)bytes << 1 | 1);
	buffer_put(to, bits, bytes);
}
