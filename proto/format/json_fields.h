/*
 * json_fields - the members of one JSON object, as they stand in its text.
 *
 * The text is checked to its last byte, strictly (json_reader_init_strict).
 * Values are views of it: nothing is built, and numbers keep their digits.
 * One struct reads any number of texts, one after another, and soon
 * allocates nothing any more.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_JSON_FIELDS_H
#define PROTO_FORMAT_JSON_FIELDS_H

#include "proto/format/json_reader.h"

/* Zeroed before its first use. */
struct json_fields {
	struct json_keys keys; /* keys.at[i] is that of values[i], decoded */
	struct text *values;   /* NULL: see count */
	uint32_t count, room;
	uint32_t next; /* where the next one is probably looked for */
};

/* Read `from`, which must outlive what is asked of the object.  -1: it is not
 * JSON, err says why and where; or it is not an object. */
int json_fields_read(
    struct json_fields *object, struct text from, struct err *err);
void json_fields_clear(struct json_fields *object);

/* The value of a member; NULL and 0 bytes when there is none. */
struct text json_fields_find(struct json_fields *object, const char *key);

/* What a value is; a value that is absent is none of them. */
static inline bool
json_fields_is_null(struct text value)
{
	return value.bytes > 0 && value.at[0] == 'n';
}

static inline bool
json_fields_is_list(struct text value)
{
	return value.bytes > 0 && value.at[0] == '[';
}

static inline bool
json_fields_is_number(struct text value)
{
	return value.bytes > 0 &&
	       (value.at[0] == '-' ||
		   (value.at[0] >= '0' && value.at[0] <= '9'));
}

/* A value as text, decoded; valid until the object reads the next text.
 * False: it is none. */
bool json_fields_text(
    struct json_fields *object, struct text value, struct text *text);

/* A number as VALUE_INT or, with a fraction or an exponent, VALUE_FLOAT, the
 * nearest.  -1: "is not a number" or "is out of range". */
int json_fields_number(
    struct text number, struct value *value, struct err *err);

#endif
