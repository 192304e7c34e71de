/*
 * protobuf - write protocol buffers into a growing buffer, and read them in
 * place.
 *
 * The encoding is that of https://protobuf.dev/programming-guides/encoding/.
 * A message has no length of its own: it is what its bytes are.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_PROTOBUF_H
#define PROTO_BASE_PROTOBUF_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/text.h"
#include "proto/base/varint.h"

/* These numbers are on the wire. */
enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_64 = 1,
	PROTOBUF_BYTES = 2, /* text, bytes, message, packed numbers */
	PROTOBUF_32 = 5,
};

/* ---- writing ---- */

static inline void
protobuf_tag(struct buffer *b, uint32_t field, enum protobuf_type type)
{
	varint_put(b, field << 3 | type);
}

/* A number, boolean or enum; a negative number takes 64 bits. */
static inline void
protobuf_uint(struct buffer *b, uint32_t field, uint64_t value)
{
	protobuf_tag(b, field, PROTOBUF_VARINT);
	varint_put(b, value);
}

static inline void
protobuf_fixed64(struct buffer *b, uint32_t field, uint64_t value)
{
	protobuf_tag(b, field, PROTOBUF_64);
	value = htole64(value);
	buffer_put(b, &value, sizeof(value));
}

static inline void
protobuf_double(struct buffer *b, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_fixed64(b, field, bits);
}

static inline void
protobuf_text(struct buffer *b, uint32_t field, struct text value)
{
	protobuf_tag(b, field, PROTOBUF_BYTES);
	varint_put_text(b, value);
}

/* A message inside: begin it, write its fields, end it.  Its length takes one
 * byte until it turns out to need more.  Returns the argument for
 * protobuf_end. */
static inline size_t
protobuf_begin(struct buffer *b, uint32_t field)
{
	protobuf_tag(b, field, PROTOBUF_BYTES);
	buffer_need(b, 1);
	return ++b->bytes;
}

static inline void
protobuf_end(struct buffer *b, size_t begun)
{
	size_t bytes = b->bytes - begun, more;
	unsigned char length[VARINT_BYTES];

	if (bytes < 0x80) {
		b->at[begun - 1] = (unsigned char)bytes;
		return;
	}
	more = (size_t)(varint_encode(length, bytes) - length) - 1;
	buffer_need(b, more);
	memmove(b->at + begun + more, b->at + begun, bytes);
	memcpy(b->at + begun - 1, length, more + 1);
	b->bytes += more;
}

/* ---- reading ---- */

struct protobuf_field {
	uint32_t number;
	enum protobuf_type type;
	uint64_t value;    /* of a number: its bits */
	struct text bytes; /* PROTOBUF_BYTES: a view */
};

static inline double
protobuf_as_double(const struct protobuf_field *field)
{
	double value;

	memcpy(&value, &field->value, sizeof(value));
	return value;
}

static inline bool
protobuf_fault(struct varint_reader *message)
{
	message->bad = true;
	message->at = message->end;
	return false;
}

static inline uint64_t
protobuf_get_fixed(struct varint_reader *message, size_t bytes)
{
	struct text t = varint_get_bytes(message, bytes);
	uint64_t value = 0;

	if (t.bytes > 0)
		memcpy(&value, t.at, t.bytes);
	return le64toh(value);
}

/* The next field of a message, varint_reader_of(its bytes).  False at its end,
 * and at what is no field (message->bad).  Groups, which nobody writes any
 * more, are none. */
static inline bool
protobuf_next(struct varint_reader *message, struct protobuf_field *field)
{
	uint64_t tag;

	if (message->at == message->end)
		return false;
	tag = varint_get_max(message, UINT32_MAX);
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum protobuf_type)(tag & 7);
	field->value = 0;
	field->bytes = (struct text){ NULL, 0 };
	if (field->number == 0)
		return protobuf_fault(message);
	switch (field->type) {
	case PROTOBUF_VARINT: field->value = varint_get(message); break;
	case PROTOBUF_64: field->value = protobuf_get_fixed(message, 8); break;
	case PROTOBUF_BYTES: field->bytes = varint_get_text(message); break;
	case PROTOBUF_32: field->value = protobuf_get_fixed(message, 4); break;
	default: return protobuf_fault(message);
	}
	return !message->bad;
}

#endif
