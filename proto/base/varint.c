/*
 * varint - encode and decode the fields of rows.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/varint.h"

#include <endian.h>
#include <stdlib.h>

/* Eight bytes of 7 bits each, low ones first, as one number. */
static uint64_t
join(uint64_t bytes)
{
	bytes = (bytes & UINT64_C(0x007f007f007f007f)) |
		(bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
	bytes = (bytes & UINT64_C(0x00003fff00003fff)) |
		(bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (bytes & UINT64_C(0x000000000fffffff)) |
	       (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
}

static uint64_t
get_varint_slowly(struct varint_reader *u)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (u->at < u->end && shift < 64) {
		unsigned char byte = *u->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
		shift += 7;
	}
	u->bad = true;
	u->at = u->end;
	return 0;
}

/* All bytes at once, if eight bytes are readable and the last one is among
 * them. */
uint64_t
varint_get_long(struct varint_reader *u)
{
	uint64_t bytes, ends;
	unsigned bits;

	if (varint_left(u) < sizeof(bytes))
		return get_varint_slowly(u);
	memcpy(&bytes, u->at, sizeof(bytes));
	bytes = le64toh(bytes);
	ends = ~bytes & UINT64_C(0x8080808080808080);
	if (ends == 0)
		return get_varint_slowly(u);
	bits = (unsigned)__builtin_ctzll(ends) + 1; /* 8, 16 .. 64 */
	u->at += bits / 8;
	return join(bytes & (UINT64_MAX >> (64 - bits)));
}
