/*
 * varint - encode the fields of rows into a buffer, and decode them from a
 * view.
 *
 * A varint is LEB128: 7 bits a byte, low ones first, at most 10 bytes; signed
 * numbers are zigzag-encoded first.  Differences of times wrap modulo 2^64, so
 * that they exist for every pair of int64.
 *
 * Reading is bounded and sticky: the first fault sets `bad`, and every later
 * read returns 0 or an empty value.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_VARINT_H
#define PROTO_BASE_VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/text.h"

enum { VARINT_BYTES = 10 };

static inline unsigned char *
varint_encode(unsigned char *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*to++ = (unsigned char)value;
	return to;
}

static inline uint64_t
varint_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? ~UINT64_C(0) : 0);
}

static inline int64_t
varint_unzigzag(uint64_t value)
{
	return (int64_t)((value >> 1) ^ (~(value & 1) + 1));
}

/* b - a modulo 2^64, zigzag-encoded; and the inverse. */
static inline uint64_t
varint_delta(int64_t a, int64_t b)
{
	return varint_zigzag((int64_t)((uint64_t)b - (uint64_t)a));
}

static inline int64_t
varint_undelta(int64_t a, uint64_t delta)
{
	return (int64_t)((uint64_t)a + (uint64_t)varint_unzigzag(delta));
}

static inline void
varint_put(struct buffer *b, uint64_t value)
{
	unsigned char *to = buffer_need(b, VARINT_BYTES);

	b->bytes += (size_t)(varint_encode(to, value) - to);
}

static inline void
varint_put_text(struct buffer *b, struct text t)
{
	varint_put(b, t.bytes);
	buffer_put(b, t.at, t.bytes);
}

struct varint_reader {
	const unsigned char *at, *end;
	bool bad;
};

static inline struct varint_reader
varint_reader_of(struct text t)
{
	/* An empty text may be NULL. */
	const char *at = t.at != NULL ? t.at : "";
	const unsigned char *from = (const unsigned char *)at;

	return (struct varint_reader){ from, from + t.bytes, false };
}

static inline size_t
varint_left(const struct varint_reader *u)
{
	return (size_t)(u->end - u->at);
}

uint64_t varint_get_slowly(struct varint_reader *u);

/* Eight bytes of 7 bits each, low ones first, as one number. */
static inline uint64_t
varint_join(uint64_t bytes)
{
	bytes = (bytes & UINT64_C(0x007f007f007f007f)) |
		(bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
	bytes = (bytes & UINT64_C(0x00003fff00003fff)) |
		(bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (bytes & UINT64_C(0x000000000fffffff)) |
	       (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* All bytes at once, if eight bytes are readable and the last one is among
 * them. */
static inline uint64_t
varint_get(struct varint_reader *u)
{
	uint64_t bytes, ends;
	unsigned bits;

	if (u->at < u->end && *u->at < 0x80)
		return *u->at++;
	if (varint_left(u) < sizeof(bytes))
		return varint_get_slowly(u);
	memcpy(&bytes, u->at, sizeof(bytes));
	bytes = le64toh(bytes);
	ends = ~bytes & UINT64_C(0x8080808080808080);
	if (ends == 0)
		return varint_get_slowly(u);
	bits = (unsigned)__builtin_ctzll(ends) + 1; /* 8, 16 .. 64 */
	u->at += bits / 8;
	return varint_join(bytes & (UINT64_MAX >> (64 - bits)));
}

/* A varint of at most `max`. */
static inline uint64_t
varint_get_max(struct varint_reader *u, uint64_t max)
{
	uint64_t value = varint_get(u);

	if (value <= max)
		return value;
	u->bad = true;
	u->at = u->end;
	return 0;
}

static inline uint32_t
varint_get_u32(struct varint_reader *u)
{
	return (uint32_t)varint_get_max(u, UINT32_MAX);
}

static inline struct text
varint_get_bytes(struct varint_reader *u, size_t bytes)
{
	struct text t = { (const char *)u->at, (uint32_t)bytes };

	if (bytes > varint_left(u)) {
		u->bad = true;
		u->at = u->end;
		return (struct text){ NULL, 0 };
	}
	u->at += bytes;
	return t;
}

static inline struct text
varint_get_text(struct varint_reader *u)
{
	return varint_get_bytes(u, varint_get_max(u, UINT32_MAX));
}

static inline void
varint_put_u32_be(unsigned char *to, uint32_t value)
{
	to[0] = (unsigned char)(value >> 24);
	to[1] = (unsigned char)(value >> 16);
	to[2] = (unsigned char)(value >> 8);
	to[3] = (unsigned char)value;
}

static inline uint32_t
varint_get_u32_be(const void *from)
{
	const unsigned char *at = from;

	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
	       (uint32_t)at[2] << 8 | at[3];
}

static inline void
varint_put_u64_be(unsigned char *to, uint64_t value)
{
	varint_put_u32_be(to, (uint32_t)(value >> 32));
	varint_put_u32_be(to + 4, (uint32_t)value);
}

static inline uint64_t
varint_get_u64_be(const void *from)
{
	const unsigned char *at = from;

	return (uint64_t)varint_get_u32_be(at) << 32 |
	       varint_get_u32_be(at + 4);
}

#endif
