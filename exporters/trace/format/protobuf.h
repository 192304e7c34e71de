/*
 * protobuf - write protocol buffers into a growing buffer.
 *
 * A field that holds a message has a begin and an end call.  Its length takes
 * one byte until it turns out to need more.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_PROTOBUF_H
#define EXPORTERS_TRACE_FORMAT_PROTOBUF_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/varint.h"

enum { PROTOBUF_NUMBER_BYTES = 20 };

/* A number, boolean or enum; a negative number takes 64 bits. */
static inline void
protobuf_uint(struct buffer *b, uint32_t field, uint64_t value)
{
	varint_put(b, field << 3);
	varint_put(b, value);
}

static inline void
protobuf_double(struct buffer *b, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	varint_put(b, field << 3 | 1);
	bits = htole64(bits);
	buffer_put(b, &bits, sizeof(bits));
}

static inline void
protobuf_text(struct buffer *b, uint32_t field, struct text value)
{
	varint_put(b, field << 3 | 2);
	varint_put_text(b, value);
}

/* Returns the argument for protobuf_end. */
static inline size_t
protobuf_begin(struct buffer *b, uint32_t field)
{
	varint_put(b, field << 3 | 2);
	buffer_need(b, 1);
	return ++b->bytes;
}

void protobuf_end_long(struct buffer *b, size_t begun);

static inline void
protobuf_end(struct buffer *b, size_t begun)
{
	size_t bytes = b->bytes - begun;

	if (bytes < 0x80)
		b->at[begun - 1] = (unsigned char)bytes;
	else
		protobuf_end_long(b, begun);
}

#endif
