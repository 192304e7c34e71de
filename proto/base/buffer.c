/*
 * buffer - a byte array that grows.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/buffer.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
buffer_grow(struct buffer *b, size_t more)
{
	size_t room = b->room > 0 ? b->room : 1024;

	if (more > SIZE_MAX / 2 - b->bytes)
		memory_exhausted(more);
	while (room - b->bytes < more)
		room *= 2;
	b->at = memory_resize(b->at, room);
	b->room = room;
}

void
buffer_clear(struct buffer *b)
{
	free(b->at);
	*b = (struct buffer){ NULL, 0, 0 };
}
