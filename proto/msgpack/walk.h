/*
 * walk - bounded steps over MessagePack from strangers.
 *
 * Private to the modules of proto.  Nothing is allocated and no byte beyond
 * `end` is read.  Faults are sticky: the first one is remembered and the walk
 * stands at its end, so that a caller may take ten plain steps and look once.
 * After a fault the results of steps are zero and empty.
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
	WALK_TRUNCATED, /* a length goes beyond the end */
	WALK_SHAPE,     /* not the type that should stand here */
	WALK_DEPTH,     /* containers nested deeper than WALK_DEPTH_MAX */
	WALK_LIMIT,     /* a number or length out of its range */
	WALK_TEXT,      /* breaks the rules for names or for texts */
};

struct walk {
	const unsigned char *at, *end;
	enum walk_fault fault;
	enum text_fault text_fault; /* with WALK_TEXT: which rule */
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

/* Remember a fault; returns false. */
bool walk_fail(struct walk *walk, enum walk_fault fault);

/* Are there `bytes` more?  Then they may be read. */
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
/* nil: taken, and true. */
bool walk_nil(struct walk *walk);

struct text walk_bin(struct walk *walk);
/* Any bytes in a str. */
struct text walk_str(struct walk *walk);
/* 1..NAME_BYTES_MAX bytes of UTF-8 without control characters. */
struct text walk_name(struct walk *walk);
/* The same, of up to `bytes_max` and maybe empty. */
struct text walk_line(struct walk *walk, uint32_t bytes_max);
/* Up to `bytes_max` of UTF-8. */
struct text walk_text(struct walk *walk, uint32_t bytes_max);

/* Counts that the bytes left can hold. */
uint32_t walk_array(struct walk *walk);
uint32_t walk_map(struct walk *walk);

/* One attribute: a name, then a scalar; a text of up to `text_bytes_max`. */
bool walk_pair(struct walk *walk, uint32_t text_bytes_max);
bool walk_pairs(struct walk *walk, uint32_t pairs, uint32_t text_bytes_max);
/* An integer or a float. */
bool walk_number(struct walk *walk);
/* What a sample holds: an integer, a float, or nil for unknown. */
bool walk_value(struct walk *walk);

/* `values` values of any kind but extensions, inside `depth` containers. */
bool walk_skip(struct walk *walk, uint32_t values, unsigned depth);

#endif
