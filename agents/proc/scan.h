/*
 * scan - reads lines, words and numbers from a text of the kernel.
 *
 * Each function removes what it returns from its first argument.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_SCAN_H
#define AGENTS_PROC_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/text.h"

/* What the kernel does not say: an older one, a sandbox, a controller that is
 * off.  It is never 0. */
#define SCAN_UNKNOWN UINT64_MAX
/* Set all numbers of a struct to SCAN_UNKNOWN. */
#define scan_begin(numbers) memset((numbers), 0xff, sizeof(*(numbers)))

/* a + b, and a - b but never below 0.  Of what is unknown they are, too. */
static inline uint64_t
scan_sum(uint64_t a, uint64_t b)
{
	return a == SCAN_UNKNOWN || b == SCAN_UNKNOWN ? SCAN_UNKNOWN : a + b;
}

static inline uint64_t
scan_less(uint64_t a, uint64_t b)
{
	if (a == SCAN_UNKNOWN || b == SCAN_UNKNOWN)
		return SCAN_UNKNOWN;
	return a > b ? a - b : 0;
}

/* 0 if unknown: for sums that leave out what is not there. */
static inline uint64_t
scan_or_0(uint64_t a)
{
	return a == SCAN_UNKNOWN ? 0 : a;
}

/* The next word if it is a whole number below 2^64.  Any other word is skipped
 * and `number` is not changed. */
bool scan_number(struct text *line, uint64_t *number);

/* The first `count` numbers of a line. */
bool scan_numbers(struct text *line, uint64_t *const *numbers, uint32_t count);

/* The part before the first `c`, which is removed with it.  Without a `c` it is
 * all there is. */
struct text scan_until(struct text *rest, char c);

/* "cpu12"; no processor is "cpu", which is the sum. */
bool scan_processor(struct text word, uint64_t *number);

/* Lines "name value": adds the value to the number for that name, unless that
 * is still unknown: then it is the value. */
struct scan_field {
	struct text name;
	uint64_t *to;
};
#define SCAN_FIELD(name, to)                                                   \
	{                                                                      \
		{ name, sizeof(name) - 1 }, to                                 \
	}
/* Returns whether any of the names was found. */
bool scan_fields(
    struct text file, const struct scan_field *fields, uint32_t count);

static inline bool
scan_is(struct text word, const char *what)
{
	return text_equal(word, text_of(what));
}

#endif
