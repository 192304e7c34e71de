/*
 * text - a view of text or bytes in memory that something else owns.
 *
 * A view is valid as long as the buffer that it points into.  Not
 * NUL-terminated.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_TEXT_H
#define PROTO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *at; /* may be NULL when bytes == 0 */
	uint32_t bytes;
};

enum {
	NAME_BYTES_MAX = 255, /* partition, node, source, name, track, key */
};

/* The fault of a name or a text; 0 is none. */
enum text_fault {
	TEXT_OK,
	TEXT_EMPTY,
	TEXT_TOO_LONG,
	TEXT_NOT_UTF8,
	TEXT_CONTROL, /* a control character (C0, DEL, C1) */
};

static inline struct text
text_of(const char *string)
{
	return (struct text){ string, string ? (uint32_t)strlen(string) : 0 };
}

static inline bool
text_equal(struct text a, struct text b)
{
	return a.bytes == b.bytes &&
	       (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

/* Copy `n` bytes like memcpy, without a call if they are few: most texts of
 * records are a few words, and a call takes longer than the copy.  Returns the
 * end of the copy. */
__attribute__((always_inline)) static inline unsigned char *
text_copy_short(unsigned char *p, const void *text, uint32_t n)
{
	const char *from = text;

	if (n > 32) {
		memcpy(p, from, n);
	} else if (n >= 16) {
		/* Two copies that overlap in the middle; same below. */
		memcpy(p, from, 16);
		memcpy(p + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(p, from, 8);
		memcpy(p + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(p, from, 4);
		memcpy(p + n - 4, from + n - 4, 4);
	} else if (n > 0) {
		p[0] = (unsigned char)from[0];
		p[n / 2] = (unsigned char)from[n / 2];
		p[n - 1] = (unsigned char)from[n - 1];
	}
	return p + n;
}

/* Byte order; a prefix sorts before longer texts. */
int text_compare(struct text a, struct text b);
/* Natural order: node2 before node10.  Only identical texts are equal. */
int text_compare_natural(struct text a, struct text b);

/* Is `t` well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms)? */
bool text_is_utf8(struct text t);

/* Decode the first character of `t`; returns its length in bytes, 0 when `t`
 * is empty or does not begin with valid UTF-8. */
uint32_t text_character(struct text t, uint32_t *character);
/* Write a character as UTF-8; returns its length in bytes, at most 4. */
uint32_t text_put_character(char *to, uint32_t character);

/* A name: 1..NAME_BYTES_MAX bytes of UTF-8 without control characters. */
enum text_fault text_check_name(struct text t);

/* The fault as the rest of a sentence about a name, such as "is longer than 255
 * bytes". */
const char *text_fault_words(enum text_fault fault);

/* Remove blanks, tabs and line ends at both ends. */
struct text text_trim(struct text t);

/* What is before the first `c`, and what is after it; all if there is none. */
struct text text_before(struct text t, char c);
struct text text_after(struct text t, char c);

/* Take a line from the front, without its newline; false at the end. */
bool text_next_line(struct text *rest, struct text *line);

/* Take a word from the front, and the blanks and tabs before it; empty at the
 * end. */
struct text text_next_word(struct text *rest);

/* Take what is before the next tab, and the tab; all that is left without one.
 */
struct text text_next_cell(struct text *rest);

/* Two lower-case digits for each byte; returns the end, without a NUL. */
char *text_hex(char *to, const void *from, uint32_t bytes);
/* The reverse, of digits in either case.  False: they are not two digits for
 * each of the `bytes`. */
bool text_unhex(unsigned char *to, uint32_t bytes, struct text digits);

/* Does every terminal show this character in one or two columns?  Not control
 * characters, marks that have no column of their own, what changes the order
 * or the lines of text, and what is beyond U+FFFF (terminals differ). */
bool text_is_shown(uint32_t character);
/* Replace what is not shown, also bytes that are no UTF-8, by '?' in place;
 * returns the length then.  `lines`: tabs and newlines stay. */
size_t text_make_shown(char *text, size_t bytes, bool lines);

/* Copy into `to` in a form that is safe in a log line or an error message:
 * what text_is_shown does not accept, quotes, backslashes and bytes that are
 * not UTF-8 become \xNN; cut with "..." when it does not fit.  Returns `to`. */
const char *text_quote(char *to, size_t to_bytes, struct text t);

/* Shell-style pattern with * and ? only (? is one character of UTF-8). */
bool text_match(struct text pattern, struct text t);
/* The same for partitions: of a pattern without '$', the first '/' stands for
 * one, as in account/pool. */
bool text_match_partition(struct text pattern, struct text partition);
/* Can it match more than itself? */
bool text_is_pattern(struct text pattern);
/* Its literal prefix: everything before the first * or ?. */
struct text text_front(struct text pattern);

#endif
