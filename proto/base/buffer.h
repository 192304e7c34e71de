/*
 * buffer - a byte array that grows.
 *
 * A zeroed buffer is empty and ready.  The room doubles, so that appending
 * takes constant time on average; a caller that appends untrusted bytes must
 * limit `bytes` first.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_BUFFER_H
#define PROTO_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/text.h"

struct buffer {
	unsigned char *at; /* NULL: nothing was appended yet */
	size_t bytes, room;
};

/* Make room for `more` bytes after the present ones; ends the process when
 * memory is exhausted. */
void buffer_grow(struct buffer *b, size_t more);
/* Free the memory; the buffer is empty and ready again. */
void buffer_clear(struct buffer *b);

/* Call buffer_grow if there is no room yet; returns the end, where the caller
 * writes before it increases b->bytes. */
static inline unsigned char *
buffer_need(struct buffer *b, size_t more)
{
	if (b->at == NULL || b->room - b->bytes < more)
		buffer_grow(b, more);
	return b->at + b->bytes;
}

static inline void
buffer_put(struct buffer *b, const void *from, size_t bytes)
{
	if (bytes == 0)
		return;
	memcpy(buffer_need(b, bytes), from, bytes);
	b->bytes += bytes;
}

static inline void
buffer_put_text(struct buffer *b, struct text t)
{
	buffer_put(b, t.at, t.bytes);
}

/* A view of all bytes, valid until the next call that appends some. */
static inline struct text
buffer_text(const struct buffer *b)
{
	return (struct text){ (const char *)b->at, (uint32_t)b->bytes };
}

#endif
