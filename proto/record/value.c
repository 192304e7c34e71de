/*
 * value - a value of an attribute as text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/value.h"

#include <stdio.h>

#include "proto/base/number.h"

struct text
value_as_text(const struct value *value, char *room)
{
	int bytes = 0;

	switch (value->type) {
	case VALUE_TEXT: return value->is.text;
	case VALUE_BOOL: return text_of(value->is.boolean ? "true" : "false");
	case VALUE_INT:
		bytes = snprintf(
		    room, NUMBER_BYTES, "%lld", (long long)value->is.i);
		break;
	case VALUE_UINT:
		bytes = snprintf(room, NUMBER_BYTES, "%llu",
		    (unsigned long long)value->is.u);
		break;
	case VALUE_FLOAT: bytes = (int)number_repr(room, value->is.f); break;
	default: return (struct text){ NULL, 0 };
	}
	return (struct text){ room, (uint32_t)bytes };
}
