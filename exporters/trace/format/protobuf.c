/*
 * protobuf - write protocol buffers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/protobuf.h"

/* If the length needs more than one byte, move the message. */
void
protobuf_end_long(struct buffer *b, size_t begun)
{
	size_t bytes = b->bytes - begun;
	unsigned char length[VARINT_BYTES];
	size_t more = (size_t)(varint_encode(length, bytes) - length) - 1;

	buffer_need(b, more);
	memmove(b->at + begun + more, b->at + begun, bytes);
	memcpy(b->at + begun - 1, length, more + 1);
	b->bytes += more;
}
