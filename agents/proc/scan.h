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

#include "proto/base/text.h"

/* The next word if it is a whole number below 2^64.  Any other word is skipped
 * and `number` is not changed. */
bool scan_number(struct text *line, uint64_t *number);

/* The first `count` numbers of a line. */
bool scan_numbers(struct text *line, uint64_t *const *numbers, uint32_t count);

/* Lines "name value": adds the value to the number for that name. */
struct scan_field {
	struct text name;
	uint64_t *to;
};
/* Returns whether any of the names was found. */
bool scan_fields(
    struct text file, const struct scan_field *fields, uint32_t count);

static inline bool
scan_is(struct text word, const char *what)
{
	return text_equal(word, text_of(what));
}

#endif
