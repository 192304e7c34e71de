/*
 * mp - read single MessagePack values in place, without a tree.
 *
 * The functions trust the bytes: walk.h must have checked them.  mp_put.h
 * writes. https://github.com/msgpack/msgpack/blob/master/spec.md
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_MSGPACK_MP_H
#define PROTO_MSGPACK_MP_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/text.h"

enum mp_tag {
	MP_FIXMAP = 0x80,
	MP_FIXARRAY = 0x90,
	MP_FIXSTR = 0xa0,
	MP_NIL = 0xc0,
	MP_FALSE = 0xc2,
	MP_TRUE = 0xc3,
	MP_BIN8 = 0xc4,
	MP_BIN16 = 0xc5,
	MP_BIN32 = 0xc6,
	MP_FLOAT32 = 0xca,
	MP_FLOAT64 = 0xcb,
	MP_UINT8 = 0xcc,
	MP_UINT16 = 0xcd,
	MP_UINT32 = 0xce,
	MP_UINT64 = 0xcf,
	MP_INT8 = 0xd0,
	MP_INT16 = 0xd1,
	MP_INT32 = 0xd2,
	MP_INT64 = 0xd3,
	MP_STR8 = 0xd9,
	MP_STR16 = 0xda,
	MP_STR32 = 0xdb,
	MP_ARRAY16 = 0xdc,
	MP_ARRAY32 = 0xdd,
	MP_MAP16 = 0xde,
	MP_MAP32 = 0xdf,
	MP_NEGATIVE = 0xe0,
};

/* ---- big-endian numbers at any address ---- */

static inline uint16_t
mp_load16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t
mp_load32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t
mp_load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* ---- decoding checked bytes ---- */

static inline double
mp_get_float(const unsigned char **at)
{
	const unsigned char *p = *at;
	uint64_t bits;
	uint32_t half;
	double value;
	float narrow;

	if (*p == MP_FLOAT32) {
		half = mp_load32(p + 1);
		memcpy(&narrow, &half, sizeof(narrow));
		*at = p + 5;
		return (double)narrow;
	}
	bits = mp_load64(p + 1);
	memcpy(&value, &bits, sizeof(value));
	*at = p + 9;
	return value;
}

/* Any integer, as the 64 bits of an int64; one that does not fit (only
 * MP_UINT64 can hold it) wraps. */
static inline uint64_t
mp_get_int(const unsigned char **at)
{
	const unsigned char *p = *at;

	switch (*p) {
	case MP_UINT64:
	case MP_INT64: *at = p + 9; return mp_load64(p + 1);
	case MP_UINT32: *at = p + 5; return mp_load32(p + 1);
	case MP_UINT16: *at = p + 3; return mp_load16(p + 1);
	case MP_UINT8: *at = p + 2; return p[1];
	case MP_INT32: *at = p + 5; return (uint64_t)(int32_t)mp_load32(p + 1);
	case MP_INT16: *at = p + 3; return (uint64_t)(int16_t)mp_load16(p + 1);
	case MP_INT8: *at = p + 2; return (uint64_t)(int8_t)p[1];
	default: *at = p + 1; return (uint64_t)(int8_t)*p;
	}
}

/* String or binary. */
static inline struct text
mp_get_text(const unsigned char **at)
{
	const unsigned char *p = *at;
	uint32_t bytes;

	if ((*p & 0xe0) == MP_FIXSTR) {
		bytes = *p & 0x1f;
		p += 1;
	} else if (*p == MP_STR8 || *p == MP_BIN8) {
		bytes = p[1];
		p += 2;
	} else if (*p == MP_STR16 || *p == MP_BIN16) {
		bytes = mp_load16(p + 1);
		p += 3;
	} else {
		bytes = mp_load32(p + 1);
		p += 5;
	}
	*at = p + bytes;
	return (struct text){ (const char *)p, bytes };
}

/* Elements of an array or pairs of a map. */
static inline uint32_t
mp_get_count(const unsigned char **at)
{
	const unsigned char *p = *at;

	if (*p < MP_FIXSTR) {
		*at = p + 1;
		return *p & 0x0f;
	}
	if (*p == MP_ARRAY16 || *p == MP_MAP16) {
		*at = p + 3;
		return mp_load16(p + 1);
	}
	*at = p + 5;
	return mp_load32(p + 1);
}

static inline bool
mp_is_bin(unsigned char tag)
{
	return tag >= MP_BIN8 && tag <= MP_BIN32;
}

/* Skip a value that is not a container. */
static inline const unsigned char *
mp_skip_scalar(const unsigned char *p)
{
	if ((*p & 0xe0) == MP_FIXSTR)
		return p + 1 + (*p & 0x1f);
	switch (*p) {
	case MP_UINT8:
	case MP_INT8: return p + 2;
	case MP_UINT16:
	case MP_INT16: return p + 3;
	case MP_UINT32:
	case MP_INT32:
	case MP_FLOAT32: return p + 5;
	case MP_UINT64:
	case MP_INT64:
	case MP_FLOAT64: return p + 9;
	case MP_STR8:
	case MP_BIN8: return p + 2 + p[1];
	case MP_STR16:
	case MP_BIN16: return p + 3 + mp_load16(p + 1);
	case MP_STR32:
	case MP_BIN32: return p + 5 + mp_load32(p + 1);
	default: return p + 1;
	}
}

/* Skip `values` values, containers with everything in them. */
static inline const unsigned char *
mp_skip(const unsigned char *p, uint64_t values)
{
	for (; values > 0; values--) {
		if ((*p & 0xf0) == MP_FIXMAP || *p == MP_MAP16 ||
		    *p == MP_MAP32)
			values += 2 * (uint64_t)mp_get_count(&p);
		else if ((*p & 0xf0) == MP_FIXARRAY || *p == MP_ARRAY16 ||
			 *p == MP_ARRAY32)
			values += mp_get_count(&p);
		else
			p = mp_skip_scalar(p);
	}
	return p;
}

#endif
