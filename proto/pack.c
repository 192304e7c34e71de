/*
 * pack - the bytes of rows.
 * SPDX-License-Identifier: MIT
 */
#include "proto/pack.h"

#include <stdlib.h>

void
buffer_grow(struct buffer *b, size_t more)
{
	size_t room = b->room ? b->room : 1024;

	while (room - b->bytes < more)
		room *= 2;
	b->at = realloc(b->at, room);
	if (b->at == NULL)
		abort(); /* the journal makes the end harmless */
	b->room = room;
}

void
buffer_clear(struct buffer *b)
{
	free(b->at);
	*b = (struct buffer){ NULL, 0, 0 };
}

uint64_t
get_varint_long(struct unpack *u)
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
