/*
 * value_text - the value of an attribute as a letter and a text.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/value_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "proto/base/varint.h"

#define NAN_FRONT "nan:"

enum { NAN_BYTES = sizeof(NAN_FRONT) - 1 };

static const uint64_t plain_nan = UINT64_C(0x7ff8000000000000);

static struct text
float_text(char room[static NUMBER_BYTES], double value)
{
	uint64_t bits;
	size_t bytes;

	memcpy(&bits, &value, sizeof(bits));
	if (isnan(value) && bits != plain_nan)
		bytes = (size_t)snprintf(
		    room, NUMBER_BYTES, NAN_FRONT "%016" PRIx64, bits);
	else
		bytes = number_repr(room, value);
	return (struct text){ room, (uint32_t)bytes };
}

/* Many attributes are whole numbers, and snprintf takes ten times as long. */
static struct text
whole_text(char room[static NUMBER_BYTES], uint64_t size, bool is_negative)
{
	char *end = room + NUMBER_BYTES, *at = end;

	do {
		*--at = (char)('0' + size % 10);
		size /= 10;
	} while (size > 0);
	if (is_negative)
		*--at = '-';
	return (struct text){ at, (uint32_t)(end - at) };
}

struct text
value_text(char room[static NUMBER_BYTES], const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL: break;
	case VALUE_BOOL: return text_of(value->is.boolean ? "true" : "false");
	case VALUE_INT:
		return value->is.i < 0
			   ? whole_text(room, 0 - (uint64_t)value->is.i, true)
			   : whole_text(room, (uint64_t)value->is.i, false);
	case VALUE_UINT: return whole_text(room, value->is.u, false);
	case VALUE_FLOAT: return float_text(room, value->is.f);
	case VALUE_TEXT: return value->is.text;
	}
	return (struct text){ NULL, 0 };
}

char
value_text_letter(const struct value *value)
{
	static const char letters[] = {
		[VALUE_NIL] = ARCHIVE_NIL,
		[VALUE_BOOL] = ARCHIVE_BOOL,
		[VALUE_INT] = ARCHIVE_INT,
		[VALUE_UINT] = ARCHIVE_UINT,
		[VALUE_FLOAT] = ARCHIVE_FLOAT,
		[VALUE_TEXT] = ARCHIVE_TEXT,
	};

	return letters[value->type];
}

static bool
parse_int(struct text text, int64_t *value)
{
	bool minus = text.bytes > 0 && text.at[0] == '-';
	struct text digits = { text.at + minus, text.bytes - minus };
	uint64_t size;

	if (number_parse_u64(digits, &size, NULL) != 0 ||
	    size > (uint64_t)INT64_MAX + minus)
		return false;
	*value = (int64_t)(minus ? 0 - size : size);
	return true;
}

static bool
parse_float(struct text text, double *value)
{
	unsigned char bytes[8];
	struct text digits;
	uint64_t bits;

	if (text_equal(text, text_of("inf"))) {
		*value = INFINITY;
	} else if (text_equal(text, text_of("-inf"))) {
		*value = -INFINITY;
	} else if (text_equal(text, text_of("nan"))) {
		memcpy(value, &plain_nan, sizeof(*value));
	} else if (text.bytes > NAN_BYTES &&
		   memcmp(text.at, NAN_FRONT, NAN_BYTES) == 0) {
		digits = (struct text){ text.at + NAN_BYTES,
			text.bytes - NAN_BYTES };
		if (!text_unhex(bytes, sizeof(bytes), digits))
			return false;
		bits = varint_get_u64_be(bytes);
		memcpy(value, &bits, sizeof(*value));
	} else {
		return number_parse_double(text, value, NULL) == 0;
	}
	return true;
}

static bool
parse(char letter, struct text text, struct value *value)
{
	switch (letter) {
	case ARCHIVE_NIL: value->type = VALUE_NIL; return true;
	case ARCHIVE_BOOL:
		value->type = VALUE_BOOL;
		value->is.boolean = text_equal(text, text_of("true"));
		return true;
	case ARCHIVE_INT:
		value->type = VALUE_INT;
		return parse_int(text, &value->is.i);
	case ARCHIVE_UINT:
		value->type = VALUE_UINT;
		return number_parse_u64(text, &value->is.u, NULL) == 0 &&
		       value->is.u > INT64_MAX;
	case ARCHIVE_FLOAT:
		value->type = VALUE_FLOAT;
		return parse_float(text, &value->is.f);
	case ARCHIVE_TEXT:
		value->type = VALUE_TEXT;
		value->is.text = text;
		return true;
	default: return false;
	}
}

bool
value_text_parse(char letter, struct text text, struct value *value)
{
	char room[NUMBER_BYTES];

	/* One text for each value: "07" or "1e0" is somebody else's. */
	return parse(letter, text, value) &&
	       text_equal(value_text(room, value), text);
}
