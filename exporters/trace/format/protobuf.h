/*
 * protobuf - the bytes of protocol buffers, in a buffer that grows.
 *
 * A field that holds a message is begun and ended; its length takes one byte
 * until it turns out to need more.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_PROTOBUF_H
#define EXPORTERS_TRACE_FORMAT_PROTOBUF_H

#include <stdint.h>
#include <string.h>

#include "proto/base/text.h"

enum { PROTOBUF_VARINT_BYTES = 10, PROTOBUF_NUMBER_BYTES = 20 };

struct protobuf {
	unsigned char *at;
	size_t used, room;
};

void protobuf_grow(struct protobuf *protobuf, size_t bytes);

static inline void
protobuf_need(struct protobuf *protobuf, size_t bytes)
{
	if (protobuf->room - protobuf->used < bytes)
		protobuf_grow(protobuf, bytes);
}

static inline void
protobuf_varint(struct protobuf *protobuf, uint64_t value)
{
	protobuf_need(protobuf, PROTOBUF_VARINT_BYTES);
	while (value >= 0x80) {
		protobuf->at[protobuf->used++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	protobuf->at[protobuf->used++] = (unsigned char)value;
}

/* A number, or a boolean, or a choice; a negative one as 64 bits. */
static inline void
protobuf_uint(struct protobuf *protobuf, uint32_t field, uint64_t value)
{
	protobuf_varint(protobuf, field << 3);
	protobuf_varint(protobuf, value);
}

static inline void
protobuf_double(struct protobuf *protobuf, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_varint(protobuf, field << 3 | 1);
	protobuf_need(protobuf, 8);
	for (int i = 0; i < 8; i++, bits >>= 8)
		protobuf->at[protobuf->used++] = (unsigned char)bits;
}

static inline void
protobuf_text(struct protobuf *protobuf, uint32_t field, struct text value)
{
	protobuf_varint(protobuf, field << 3 | 2);
	protobuf_varint(protobuf, value.bytes);
	protobuf_need(protobuf, value.bytes);
	if (value.bytes > 0)
		memcpy(protobuf->at + protobuf->used, value.at, value.bytes);
	protobuf->used += value.bytes;
}

/* Returns what protobuf_end wants. */
static inline size_t
protobuf_begin(struct protobuf *protobuf, uint32_t field)
{
	protobuf_varint(protobuf, field << 3 | 2);
	protobuf_need(protobuf, 1);
	return ++protobuf->used;
}

void protobuf_end_long(struct protobuf *protobuf, size_t begun);

static inline void
protobuf_end(struct protobuf *protobuf, size_t begun)
{
	size_t bytes = protobuf->used - begun;

	if (bytes < 0x80)
		protobuf->at[begun - 1] = (unsigned char)bytes;
	else
		protobuf_end_long(protobuf, begun);
}

void protobuf_clear(struct protobuf *protobuf);

#endif
