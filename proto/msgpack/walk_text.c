/*
 * walk_text - steps over names, strings and binary data.
 * SPDX-License-Identifier: MIT
 */
#include "proto/msgpack/walk.h"

#define ONES UINT64_C(0x0101010101010101)

static bool
fail_text(struct walk *walk, enum text_fault fault)
{
	if (walk->fault == WALK_OK)
		walk->text_fault = fault;
	return walk_fail(walk, WALK_TEXT);
}

/* ---- heads ---- */

/* Take `bytes` bytes after a head of `head_bytes`. */
static inline struct text
take(struct walk *walk, unsigned head_bytes, uint32_t bytes)
{
	const char *at = (const char *)walk->at + head_bytes;

	if (!walk_has(walk, (uint64_t)head_bytes + bytes))
		return (struct text){ 0 };
	walk->at += head_bytes + bytes;
	return (struct text){ at, bytes };
}

/* A str (`first` MP_STR8) or bin (MP_BIN8) after a head of 8 to 32 bits. */
static struct text
step_long(struct walk *walk, unsigned char first)
{
	unsigned char tag = *walk->at;

	if (tag == first)
		return walk_has(walk, 2) ? take(walk, 2, walk->at[1])
					 : (struct text){ 0 };
	if (tag == first + 1)
		return walk_has(walk, 3)
			   ? take(walk, 3, mp_load16(walk->at + 1))
			   : (struct text){ 0 };
	if (tag == first + 2)
		return walk_has(walk, 5)
			   ? take(walk, 5, mp_load32(walk->at + 1))
			   : (struct text){ 0 };
	walk_fail(walk, WALK_SHAPE);
	return (struct text){ 0 };
}

static inline struct text
step_str(struct walk *walk)
{
	if (!walk_has(walk, 1))
		return (struct text){ 0 };
	if ((*walk->at & 0xe0) == MP_FIXSTR)
		return take(walk, 1, *walk->at & 0x1f);
	return step_long(walk, MP_STR8);
}

struct text
walk_str(struct walk *walk)
{
	return step_str(walk);
}

struct text
walk_bin(struct walk *walk)
{
	if (!walk_has(walk, 1))
		return (struct text){ 0 };
	return step_long(walk, MP_BIN8);
}

/* ---- content ---- */

static inline uint64_t
load(const char *p, unsigned bytes)
{
	uint64_t word = 0;

	memcpy(&word, p, bytes);
	return word;
}

/* Does a non-empty text contain a byte >= 0x80, a byte below `low` or one
 * above 0x7F - `above`?  Those borrow from or carry into the high bit; the
 * effect on a neighbour byte can only add to a match that exists. */
static inline bool
has_odd(struct text t, uint64_t low, uint64_t above)
{
	uint64_t found = 0, word;

	if (t.bytes >= 8) {
		for (uint32_t i = 0; i + 8 < t.bytes; i += 8) {
			word = load(t.at + i, 8);
			found |= word | (word - low) | (word + above);
		}
		/* The last word overlaps the previous one. */
		word = load(t.at + t.bytes - 8, 8);
	} else if (t.bytes >= 4) {
		word = load(t.at, 4) | load(t.at + t.bytes - 4, 4) << 32;
	} else {
		word = (uint64_t)(unsigned char)t.at[0] |
		       (uint64_t)(unsigned char)t.at[t.bytes / 2] << 8 |
		       (uint64_t)(unsigned char)t.at[t.bytes - 1] << 16 |
		       (ONES * ' ') << 24;
	}
	found |= word | (word - low) | (word + above);
	return (found & ONES * 0x80) != 0;
}

static inline bool
is_ascii(struct text t)
{
	return !has_odd(t, 0, 0);
}

static inline bool
is_printable_ascii(struct text t)
{
	return !has_odd(t, ONES * 0x20, ONES);
}

/* text_check_name for texts of any length; checks for control characters in
 * pieces. */
static enum text_fault
check_line(struct text t)
{
	enum text_fault fault;

	if (!text_is_utf8(t))
		return TEXT_NOT_UTF8;
	while (t.bytes > 0) {
		uint32_t n =
		    t.bytes < NAME_BYTES_MAX ? t.bytes : NAME_BYTES_MAX;

		/* Cut between characters. */
		while (n < t.bytes && (t.at[n] & 0xc0) == 0x80)
			n--;
		fault = text_check_name((struct text){ t.at, n });
		if (fault != TEXT_OK)
			return fault;
		t.at += n;
		t.bytes -= n;
	}
	return TEXT_OK;
}

static inline bool
check_name(struct walk *walk, struct text name)
{
	enum text_fault fault;

	if (name.bytes > 0 && name.bytes <= NAME_BYTES_MAX &&
	    is_printable_ascii(name))
		return true;
	if (walk->fault != WALK_OK)
		return false;
	fault = text_check_name(name);
	return fault == TEXT_OK || fail_text(walk, fault);
}

static inline bool
check_text(struct walk *walk, struct text text, uint32_t bytes_max)
{
	if (text.bytes == 0)
		return true;
	if (text.bytes > bytes_max)
		return fail_text(walk, TEXT_TOO_LONG);
	if (is_ascii(text) || text_is_utf8(text))
		return true;
	return fail_text(walk, TEXT_NOT_UTF8);
}

struct text
walk_name(struct walk *walk)
{
	struct text name = step_str(walk);

	return check_name(walk, name) ? name : (struct text){ 0 };
}

struct text
walk_line(struct walk *walk, uint32_t bytes_max)
{
	struct text line = step_str(walk);
	enum text_fault fault;

	if (line.bytes == 0)
		return line;
	fault = line.bytes > bytes_max ? TEXT_TOO_LONG : check_line(line);
	if (fault == TEXT_OK)
		return line;
	fail_text(walk, fault);
	return (struct text){ 0 };
}

struct text
walk_text(struct walk *walk, uint32_t bytes_max)
{
	struct text text = step_str(walk);

	return check_text(walk, text, bytes_max) ? text : (struct text){ 0 };
}
