/*
 * protobuf - the bytes of protocol buffers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/protobuf.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
protobuf_grow(struct protobuf *protobuf, size_t bytes)
{
	protobuf->room = 2 * protobuf->room + bytes + 256;
	protobuf->at = memory_resize(protobuf->at, protobuf->room);
}

/* A length of more than one byte moves what it is of. */
void
protobuf_end_long(struct protobuf *protobuf, size_t begun)
{
	size_t bytes = protobuf->used - begun;
	struct protobuf length = { NULL, 0, 0 };

	protobuf_varint(&length, bytes);
	protobuf_need(protobuf, length.used - 1);
	memmove(protobuf->at + begun + length.used - 1, protobuf->at + begun,
	    bytes);
	memcpy(protobuf->at + begun - 1, length.at, length.used);
	protobuf->used += length.used - 1;
	protobuf_clear(&length);
}

void
protobuf_clear(struct protobuf *protobuf)
{
	free(protobuf->at);
	memset(protobuf, 0, sizeof(*protobuf));
}
