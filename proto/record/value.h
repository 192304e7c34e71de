/*
 * value - a value of an attribute or of a sample.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_VALUE_H
#define PROTO_RECORD_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum value_type {
	VALUE_NIL,
	VALUE_BOOL,
	VALUE_INT,  /* i */
	VALUE_UINT, /* u: only if it does not fit int64 */
	VALUE_FLOAT,
	VALUE_TEXT
};

struct value {
	enum value_type type;
	union {
		bool boolean;
		int64_t i;
		uint64_t u;
		double f;
		struct text text;
	} is;
};

/* A value as text: of nil an empty one.  A view of the value, or of `room`,
 * which has NUMBER_BYTES (proto/base/number.h). */
struct text value_as_text(const struct value *value, char *room);

#endif
