/*
 * walk - bounded steps over untrusted MessagePack.
 * SPDX-License-Identifier: MIT
 */
#include "proto/msgpack/walk.h"

#include "proto/msgpack/walk_quick.h"
#include "proto/os/clock.h"

bool
walk_fail(struct walk *walk, enum walk_fault fault)
{
	if (walk->fault == WALK_OK)
		walk->fault = fault;
	walk->at = walk->end;
	return false;
}

/* ---- integers ---- */

/* Length of an integer with its tag, 0 when it is not an integer. */
static inline unsigned
int_bytes(unsigned char tag)
{
	if (tag < MP_FIXMAP || tag >= MP_NEGATIVE)
		return 1;
	if (tag >= MP_UINT8 && tag <= MP_UINT64)
		return 1 + (1u << (tag - MP_UINT8));
	if (tag >= MP_INT8 && tag <= MP_INT64)
		return 1 + (1u << (tag - MP_INT8));
	return 0;
}

static inline bool
is_negative(unsigned char tag, uint64_t value)
{
	return (int64_t)value < 0 && tag != MP_UINT64;
}

static inline bool
step_int(struct walk *walk, unsigned char *tag, uint64_t *value)
{
	unsigned bytes;

	*value = 0;
	if (!walk_has(walk, 1))
		return false;
	*tag = *walk->at;
	bytes = int_bytes(*tag);
	if (bytes == 0)
		return walk_fail(walk, WALK_SHAPE);
	if (!walk_has(walk, bytes))
		return false;
	*value = mp_get_int(&walk->at);
	return true;
}

int64_t
walk_int(struct walk *walk)
{
	unsigned char tag;
	uint64_t value;

	if (!step_int(walk, &tag, &value))
		return 0;
	if (tag == MP_UINT64 && value > INT64_MAX)
		return walk_fail(walk, WALK_LIMIT);
	return (int64_t)value;
}

uint64_t
walk_uint(struct walk *walk)
{
	unsigned char tag;
	uint64_t value;

	if (!step_int(walk, &tag, &value))
		return 0;
	if (is_negative(tag, value))
		return walk_fail(walk, WALK_SHAPE);
	return value;
}

uint32_t
walk_uint32(struct walk *walk)
{
	uint64_t value = walk_uint(walk);

	if (value > UINT32_MAX)
		return walk_fail(walk, WALK_LIMIT);
	return (uint32_t)value;
}

int64_t
walk_time(struct walk *walk)
{
	int64_t time_ns = walk_int(walk);

	if (time_ns < TIME_MIN_NS || time_ns > TIME_MAX_NS)
		return walk_fail(walk, WALK_LIMIT);
	return time_ns;
}

bool
walk_nil(struct walk *walk)
{
	if (walk->at == walk->end || *walk->at != MP_NIL)
		return false;
	walk->at++;
	return true;
}

/* An integer or a float. */
static bool
walk_number(struct walk *walk)
{
	unsigned char tag;
	uint64_t value;

	if (!walk_has(walk, 1))
		return false;
	tag = *walk->at;
	if (tag == MP_FLOAT32 || tag == MP_FLOAT64) {
		if (!walk_has(walk, tag == MP_FLOAT64 ? 9 : 5))
			return false;
		walk->at += tag == MP_FLOAT64 ? 9 : 5;
		return true;
	}
	return step_int(walk, &tag, &value);
}

bool
walk_value(struct walk *walk)
{
	return walk_nil(walk) || walk_number(walk);
}

/* ---- containers ---- */

/* Each element has at least one byte, so a count that exceeds the remaining
 * bytes is refused before any loop over it. */
static inline uint32_t
step_count(struct walk *walk, unsigned char fix, unsigned char first,
    uint32_t values_each)
{
	unsigned char tag;
	uint32_t count;

	if (!walk_has(walk, 1))
		return 0;
	tag = *walk->at;
	if ((tag & 0xf0) != fix && tag != first && tag != first + 1)
		return walk_fail(walk, WALK_SHAPE);
	if (!walk_has(walk, (tag & 0xf0) == fix ? 1 : tag == first ? 3 : 5))
		return 0;
	count = mp_get_count(&walk->at);
	return walk_has(walk, (uint64_t)count * values_each) ? count : 0;
}

uint32_t
walk_array(struct walk *walk)
{
	return step_count(walk, MP_FIXARRAY, MP_ARRAY16, 1);
}

uint32_t
walk_map(struct walk *walk)
{
	return step_count(walk, MP_FIXMAP, MP_MAP16, 2);
}

static inline bool
is_str(unsigned char tag)
{
	return (tag & 0xe0) == MP_FIXSTR || (tag >= MP_STR8 && tag <= MP_STR32);
}

static inline bool
is_word(unsigned char tag)
{
	return tag == MP_NIL || tag == MP_FALSE || tag == MP_TRUE;
}

bool
walk_pair(struct walk *walk, uint32_t text_bytes_max)
{
	walk_name(walk);
	if (!walk_has(walk, 1))
		return false;
	if (is_str(*walk->at)) {
		walk_text(walk, text_bytes_max);
		return walk->fault == WALK_OK;
	}
	if (is_word(*walk->at)) {
		walk->at++;
		return true;
	}
	return walk_number(walk);
}

bool
walk_pairs(struct walk *walk, uint32_t pairs, uint32_t text_bytes_max)
{
	const unsigned char *at = walk->at, *next;

	for (; pairs > 0; pairs--, at = next) {
		next = quick_pair(at, walk->end);
		if (next)
			continue;
		walk->at = at;
		if (!walk_pair(walk, text_bytes_max))
			return false;
		next = walk->at;
	}
	walk->at = at;
	return walk->fault == WALK_OK;
}

/* A scalar of any type but an extension. */
static bool
skip_scalar(struct walk *walk)
{
	unsigned char tag = *walk->at;

	if (is_str(tag))
		walk_str(walk);
	else if (tag >= MP_BIN8 && tag <= MP_BIN32)
		walk_bin(walk);
	else if (is_word(tag))
		walk->at++;
	else
		walk_number(walk);
	return walk->fault == WALK_OK;
}

bool
walk_skip(struct walk *walk, uint32_t values, unsigned depth)
{
	uint64_t left[WALK_DEPTH_MAX + 1];
	unsigned level = 0;

	left[0] = values;
	for (;;) {
		unsigned char tag;

		while (left[level] == 0) {
			if (level-- == 0)
				return walk->fault == WALK_OK;
		}
		left[level]--;
		if (!walk_has(walk, 1))
			return false;
		tag = *walk->at;
		if ((tag < MP_FIXMAP || tag >= MP_FIXSTR) &&
		    (tag < MP_ARRAY16 || tag > MP_MAP32)) {
			if (!skip_scalar(walk))
				return false;
			continue;
		}
		if (depth + level >= WALK_DEPTH_MAX)
			return walk_fail(walk, WALK_DEPTH);
		if ((tag & 0xf0) == MP_FIXMAP || tag == MP_MAP16 ||
		    tag == MP_MAP32)
			left[level + 1] = 2 * (uint64_t)walk_map(walk);
		else
			left[level + 1] = walk_array(walk);
		if (walk->fault != WALK_OK)
			return false;
		level++;
	}
}
