/*
 * value_text - the value of an attribute as a letter and a text, and back.
 *
 * record_columns.h has the letters and what their texts look like.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_VALUE_TEXT_H
#define AGGREGATOR_ARCHIVE_ROWS_VALUE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/record/value.h"

/* The letters of `types`. */
enum archive_type {
	ARCHIVE_NIL = 'n',
	ARCHIVE_BOOL = 'b',
	ARCHIVE_INT = 'i',
	ARCHIVE_LONG = 'l',
	ARCHIVE_UINT = 'u',
	ARCHIVE_FLOAT = 'f',
	ARCHIVE_TEXT = 't',
};

/* Does a double hold this integer? */
static inline bool
value_text_is_exact(int64_t number)
{
	double v = (double)number;

	return v < 0x1p63 && (int64_t)v == number;
}

/* The text of a value: a view of a text value, else of `room`. */
struct text value_text(
    char room[static NUMBER_BYTES], const struct value *value);
char value_text_letter(const struct value *value);
/* False when value_text does not make this text of any value of that letter.
 * A text value is a view of `text`. */
bool value_text_parse(char letter, struct text text, struct value *value);

#endif
