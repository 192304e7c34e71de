/*
 * walk_quick - fast paths for the common steps of a walk.
 *
 * Private to the modules of proto.  Each function checks the bytes at `at`
 * within the bounds and returns the end of the value, or NULL: then walk.h
 * takes the step and determines the fault, if there is one.  No state is
 * written and no branch depends on the length of a short text: checking an
 * event of tests/bench/wire.c takes 20 ns instead of 36.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_MSGPACK_WALK_QUICK_H
#define PROTO_MSGPACK_WALK_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "proto/msgpack/mp.h"
#include "proto/os/clock.h"

/* Texts of up to 31 bytes have a head of one byte; the functions read this
 * many bytes from there. */
enum { QUICK_BYTES = 32 };

#ifdef __SSE2__
static inline __m128i
quick_load(const unsigned char *at)
{
	return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline uint32_t
quick_mask(__m128i low, __m128i high)
{
	return (uint32_t)_mm_movemask_epi8(low) |
	       (uint32_t)_mm_movemask_epi8(high) << 16;
}

/* Bytes from 0x80 are negative here, and so lower than a blank. */
static inline __m128i
quick_printable(__m128i half)
{
	return _mm_andnot_si128(_mm_cmpeq_epi8(half, _mm_set1_epi8(0x7f)),
	    _mm_cmpgt_epi8(half, _mm_set1_epi8(0x1f)));
}

/* Are the first `bytes` bytes, at most 31, ASCII?  Reads QUICK_BYTES. */
static inline bool
quick_is_ascii(const unsigned char *at, unsigned bytes)
{
	uint32_t odd = quick_mask(quick_load(at), quick_load(at + 16));

	return (odd & ((UINT32_C(1) << bytes) - 1)) == 0;
}

/* Are they ASCII without control characters? */
static inline bool
quick_is_printable(const unsigned char *at, unsigned bytes)
{
	uint32_t good = quick_mask(quick_printable(quick_load(at)),
	    quick_printable(quick_load(at + 16)));

	return (~good & ((UINT32_C(1) << bytes) - 1)) == 0;
}
#else
static inline bool
quick_is_ascii(const unsigned char *at, unsigned bytes)
{
	unsigned char odd = 0;

	for (unsigned i = 0; i < bytes; i++)
		odd |= at[i];
	return odd < 0x80;
}

static inline bool
quick_is_printable(const unsigned char *at, unsigned bytes)
{
	bool good = true;

	for (unsigned i = 0; i < bytes; i++)
		good = good && at[i] >= 0x20 && at[i] < 0x7f;
	return good;
}
#endif

static inline bool
quick_is_str(const unsigned char *at)
{
	return (*at & 0xe0) == MP_FIXSTR;
}

/* A name of up to 31 printable ASCII characters. */
static inline const unsigned char *
quick_name(const unsigned char *at, const unsigned char *end)
{
	unsigned bytes;

	if (end - at <= 1 + QUICK_BYTES || !quick_is_str(at))
		return NULL;
	bytes = *at & 0x1f;
	if (bytes == 0 || !quick_is_printable(at + 1, bytes))
		return NULL;
	return at + 1 + bytes;
}

/* A time in 64 bits. */
static inline const unsigned char *
quick_time(const unsigned char *at, const unsigned char *end)
{
	uint64_t time_ns;

	if (end - at < 9 || *at != MP_UINT64)
		return NULL;
	time_ns = mp_load64(at + 1);
	return time_ns <= (uint64_t)TIME_MAX_NS ? at + 9 : NULL;
}

static inline const unsigned char *
quick_nil(const unsigned char *at, const unsigned char *end)
{
	return at < end && *at == MP_NIL ? at + 1 : NULL;
}

static inline const unsigned char *
quick_no_pairs(const unsigned char *at, const unsigned char *end)
{
	return at < end && *at == MP_FIXMAP ? at + 1 : NULL;
}

/* A non-negative integer of at most `bytes` bytes after its tag; that many
 * bytes must be readable. */
static inline const unsigned char *
quick_uint(const unsigned char *at, unsigned bytes)
{
	unsigned width;

	if (*at < MP_FIXMAP)
		return at + 1;
	if (*at < MP_UINT8 || *at > MP_UINT64)
		return NULL;
	width = 1u << (*at - MP_UINT8);
	return width <= bytes ? at + 1 + width : NULL;
}

/* The identity of a record in a page: a short node, a session of 16 bytes, its
 * number in the session and in the batch, its receive time. */
static inline const unsigned char *
quick_identity(const unsigned char *at, const unsigned char *end)
{
	enum { SESSION = 2 + 16, SEQ = 1 + 8, INDEX = 1 + 4 };

	at = quick_name(at, end);
	if (!at || end - at < SESSION + SEQ + INDEX || at[0] != MP_BIN8 ||
	    at[1] != 16)
		return NULL;
	at = quick_uint(at + SESSION, 8);
	if (at)
		at = quick_uint(at, 4);
	return at ? quick_time(at, end) : NULL;
}

/* A str with 32 to 255 bytes of ASCII. */
static inline const unsigned char *
quick_long_text(const unsigned char *at, const unsigned char *end)
{
	unsigned bytes = at[1];
	uint64_t found = 0, word;

	if (end - at < 2 + (ptrdiff_t)bytes || bytes < sizeof(word))
		return NULL;
	at += 2;
	for (unsigned i = 0; i < bytes - sizeof(word); i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		found |= word;
	}
	/* The last word overlaps the previous one. */
	memcpy(&word, at + bytes - sizeof(word), sizeof(word));
	found |= word;
	return (found & UINT64_C(0x8080808080808080)) == 0 ? at + bytes : NULL;
}

/* A short name with a text of up to 255 bytes or an integer. */
static inline const unsigned char *
quick_pair(const unsigned char *at, const unsigned char *end)
{
	unsigned bytes;

	at = quick_name(at, end);
	if (!at || end - at <= 1 + QUICK_BYTES)
		return NULL;
	if (quick_is_str(at)) {
		bytes = *at & 0x1f;
		return quick_is_ascii(at + 1, bytes) ? at + 1 + bytes : NULL;
	}
	if (*at == MP_STR8)
		return quick_long_text(at, end);
	if (*at < MP_FIXMAP || (*at >= MP_UINT8 && *at <= MP_INT64))
		return mp_skip_scalar(at);
	return NULL;
}

#endif
