/*
 * json - write JSON incrementally, without building a tree.
 *
 * JSON_LINE writes the bytes that Python's json.dumps writes by default: ", "
 * and ": ", ASCII only (\uXXXX, surrogate pairs), floats in their shortest
 * form, NaN and Infinity as bare words.  JSON_INDENTED equals indent=1, with
 * JSON_WIDE indent=4.  JSON_STRICT writes null for a number that is not finite,
 * because a bare NaN is not JSON.  Bytes that are not UTF-8 become U+FFFD, so
 * that the output is always valid text.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_H
#define PROTO_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"
#include "proto/record/record.h"

enum json_style {
	JSON_LINE = 0,
	JSON_INDENTED = 1,
	JSON_STRICT = 2,
	JSON_WIDE = 4,    /* with JSON_INDENTED */
	JSON_COMPACT = 8, /* with JSON_LINE: no blanks */
};
enum { JSON_DEPTH_MAX = 63 };

struct json {
	FILE *file;
	unsigned style; /* of enum json_style, or-ed */
	unsigned depth;
	uint64_t filled; /* bit d: the container at depth d is not empty */
	bool after_key;
};

void json_init(struct json *json, FILE *file, unsigned style);

/* Containers; in an object write a key before each value. */
void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);
void json_key(struct json *json, struct text key);
void json_name(struct json *json, const char *key);

void json_text(struct json *json, struct text value);
void json_string(struct json *json, const char *value);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
void json_float(struct json *json, double value);
/* A value that is JSON already, such as an integer of any size as digits. */
void json_raw(struct json *json, struct text value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
/* Two hexadecimal digits for each byte. */
void json_hex(struct json *json, struct text bytes);
void json_value(struct json *json, const struct value *value);
/* The attributes of a struct record (`pairs`) as an object. */
void json_pairs(struct json *json, struct text pairs);

/* The members of an object: a key and its value. */
void json_add_object(struct json *json, const char *key);
void json_add_array(struct json *json, const char *key);
void json_add_text(struct json *json, const char *key, struct text value);
void json_add_string(struct json *json, const char *key, const char *value);
void json_add_int(struct json *json, const char *key, int64_t value);
void json_add_uint(struct json *json, const char *key, uint64_t value);
void json_add_float(struct json *json, const char *key, double value);
void json_add_bool(struct json *json, const char *key, bool value);
/* A date and time; null for INT64_MIN. */
void json_add_time(struct json *json, const char *key, int64_t ns, int digits);

/* A writer into memory. */
struct json_memory {
	struct json to;
	char *text; /* set at the end; the caller frees it */
	size_t bytes;
};

void json_memory_begin(struct json_memory *json, unsigned style);
/* A view of `text`, which is NUL-terminated. */
struct text json_memory_end(struct json_memory *json);

#endif
