/*
 * varint - encode and decode the fields of rows.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/varint.h"

uint64_t
varint_get_slowly(struct varint_reader *u)
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
