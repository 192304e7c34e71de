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

enum { PB_VARINT_BYTES = 10, PB_NUMBER_BYTES = 20 };

struct pb {
	unsigned char *at;
	size_t used, room;
};

void pb_grow(struct pb *pb, size_t bytes);

static inline void
pb_need(struct pb *pb, size_t bytes)
{
	if (pb->room - pb->used < bytes)
		pb_grow(pb, bytes);
}

static inline void
pb_varint(struct pb *pb, uint64_t value)
{
	pb_need(pb, PB_VARINT_BYTES);
	while (value >= 0x80) {
		pb->at[pb->used++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	pb->at[pb->used++] = (unsigned char)value;
}

/* A number, or a boolean, or a choice; a negative one as 64 bits. */
static inline void
pb_uint(struct pb *pb, uint32_t field, uint64_t value)
{
	pb_varint(pb, field << 3);
	pb_varint(pb, value);
}

static inline void
pb_double(struct pb *pb, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_varint(pb, field << 3 | 1);
	pb_need(pb, 8);
	for (int i = 0; i < 8; i++, bits >>= 8)
		pb->at[pb->used++] = (unsigned char)bits;
}

static inline void
pb_text(struct pb *pb, uint32_t field, struct text value)
{
	pb_varint(pb, field << 3 | 2);
	pb_varint(pb, value.bytes);
	pb_need(pb, value.bytes);
	if (value.bytes > 0)
		memcpy(pb->at + pb->used, value.at, value.bytes);
	pb->used += value.bytes;
}

/* Returns what pb_end wants. */
static inline size_t
pb_begin(struct pb *pb, uint32_t field)
{
	pb_varint(pb, field << 3 | 2);
	pb_need(pb, 1);
	return ++pb->used;
}

void pb_end_long(struct pb *pb, size_t begun);

static inline void
pb_end(struct pb *pb, size_t begun)
{
	size_t bytes = pb->used - begun;

	if (bytes < 0x80)
		pb->at[begun - 1] = (unsigned char)bytes;
	else
		pb_end_long(pb, begun);
}

void pb_clear(struct pb *pb);

#endif
