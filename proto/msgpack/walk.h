/*
 * walk - bounded steps over untrusted MessagePack.
 *
 * Private to the modules of proto.  The functions allocate nothing and never
 * read beyond `end`.  Faults are sticky: the first one is stored and the walk
 * moves to its end, so that a caller may take ten plain steps and check once.
 * After a fault every step returns zero or an empty value.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_MSGPACK_WALK_H
#define PROTO_MSGPACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/msgpack/mp.h"

enum { WALK_DEPTH_MAX = 8 };

enum walk_fault {
	WALK_OK,
	WALK_TRUNCATED, /* a length exceeds the remaining bytes */
	WALK_SHAPE,     /* not the expected type */
	WALK_DEPTH,     /* containers nested deeper than WALK_DEPTH_MAX */
	WALK_LIMIT,     /* a number or length is out of its range */
	WALK_TEXT,      /* violates the rules for names or for texts */
};

struct walk {
	const unsigned char *at, *end;
	enum walk_fault fault;
	enum text_fault text_fault; /* with WALK_TEXT: the violated rule */
};

static inline struct walk
walk_over(struct text bytes)
{
	const unsigned char *at = (const unsigned char *)bytes.at;

	return (struct walk){
		.at = at,
		.end = bytes.bytes > 0 ? at + bytes.bytes : at,
	};
}

static inline bool
walk_is_done(const struct walk *walk)
{
	return walk->at == walk->end;
}

static inline uint32_t
walk_bytes_left(const struct walk *walk)
{
	return (uint32_t)(walk->end - walk->at);
}

/* Store a fault; returns false. */
bool walk_fail(struct walk *walk, enum walk_fault fault);

/* Are `bytes` bytes left?  If so, they may be read. */
static inline bool
walk_has(struct walk *walk, uint64_t bytes)
{
	if (bytes <= (uint64_t)(walk->end - walk->at))
		return true;
	return walk_fail(walk, WALK_TRUNCATED);
}

int64_t walk_int(struct walk *walk);
uint64_t walk_uint(struct walk *walk);
uint32_t walk_uint32(struct walk *walk);
/* A time within TIME_MIN_NS..TIME_MAX_NS. */
int64_t walk_time(struct walk *walk);
/* If the value is nil, take it and return true. */
bool walk_nil(struct walk *walk);

struct text walk_bin(struct walk *walk);
/* A str with arbitrary bytes. */
struct text walk_str(struct walk *walk);
/* 1..NAME_BYTES_MAX bytes of UTF-8 without control characters. */
struct text walk_name(struct walk *walk);
/* The same, with up to `bytes_max` bytes, and possibly empty. */
struct text walk_line(struct walk *walk, uint32_t bytes_max);
/* Up to `bytes_max` bytes of UTF-8. */
struct text walk_text(struct walk *walk, uint32_t bytes_max);

/* A count that does not exceed the remaining bytes. */
uint32_t walk_array(struct walk *walk);
uint32_t walk_map(struct walk *walk);

/* One attribute: a name, then a scalar; text has at most `text_bytes_max`
 * bytes. */
bool walk_pair(struct walk *walk, uint32_t text_bytes_max);
bool walk_pairs(struct walk *walk, uint32_t pairs, uint32_t text_bytes_max);
/* A value of a sample: an integer, a float, or nil for unknown. */
bool walk_value(struct walk *walk);

/* `values` values of any type but extensions, inside `depth` containers. */
bool walk_skip(struct walk *walk, uint32_t values, unsigned depth);

#endif
