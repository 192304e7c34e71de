/*
 * protobuf - the bytes of protocol buffers.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/protobuf.h"

#include <stdlib.h>

void
pb_grow(struct pb *pb, size_t bytes)
{
	pb->room = 2 * pb->room + bytes + 256;
	pb->at = realloc(pb->at, pb->room);
	if (pb->at == NULL)
		abort(); /* out of memory */
}

/* A length of more than one byte moves what it is of. */
void
pb_end_long(struct pb *pb, size_t begun)
{
	size_t bytes = pb->used - begun;
	struct pb length = { NULL, 0, 0 };

	pb_varint(&length, bytes);
	pb_need(pb, length.used - 1);
	memmove(pb->at + begun + length.used - 1, pb->at + begun, bytes);
	memcpy(pb->at + begun - 1, length.at, length.used);
	pb->used += length.used - 1;
	pb_clear(&length);
}

void
pb_clear(struct pb *pb)
{
	free(pb->at);
	memset(pb, 0, sizeof(*pb));
}
