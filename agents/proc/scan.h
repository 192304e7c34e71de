/*
 * scan - lines, words and numbers off the front of a text of the kernel.
 *
 * Each function takes what it returns away from its first argument.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_SCAN_H
#define AGENTS_PROC_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* The next word when it is a whole number below 2^64.  What is none is passed
 * over, `number` stays as it is. */
bool scan_number(struct text *line, uint64_t *number);

/* The first `count` numbers of a line. */
bool scan_numbers(struct text *line, uint64_t *const *numbers, uint32_t count);

/* "name value" lines: the value is added to what the name stands for. */
struct scan_field {
	struct text name;
	uint64_t *to;
};
/* True when any of them was there. */
bool scan_fields(
    struct text file, const struct scan_field *fields, uint32_t count);

static inline bool
scan_is(struct text word, const char *what)
{
	return text_equal(word, text_of(what));
}

#endif
