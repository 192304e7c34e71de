/*
 * wire_query - any bytes as a reader's question; what is understood is
 * written and understood the same.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "proto/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A cursor that is a place in the journal. */
static void
follow(struct text cursor)
{
	unsigned char again[WIRE_POSITION_BYTES];
	struct wire_position place;

	if (!wire_get_position(cursor, &place) || cursor.bytes == 0)
		return;
	wire_put_position(again, &place);
	if (cursor.bytes != sizeof(again) ||
	    memcmp(again, cursor.at, sizeof(again)) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char to[2048];
	struct wire_query a, b;
	size_t bytes;

	if (size > WIRE_FRAME_BYTES_MAX ||
	    wire_get_query((struct text){ (const char *)data, (uint32_t)size },
		&a) != WIRE_OK)
		return 0;
	follow(a.cursor);
	bytes = wire_put_query(to, sizeof(to), &a);
	if (bytes == 0 ||
	    wire_get_query((struct text){ (char *)to, (uint32_t)bytes }, &b) !=
		WIRE_OK)
		abort();
	if (a.kinds != b.kinds || !text_equal(a.node, b.node) ||
	    !text_equal(a.name, b.name) || a.from_ns != b.from_ns ||
	    a.to_ns != b.to_ns || !text_equal(a.cursor, b.cursor) ||
	    a.page_bytes != b.page_bytes || a.step_ns != b.step_ns ||
	    !text_equal(a.columns, b.columns) || a.per_record != b.per_record)
		abort();
	return 0;
}
