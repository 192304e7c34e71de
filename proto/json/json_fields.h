/*
 * json_fields - the members of one JSON object, as views of its text.
 *
 * The whole text is checked strictly (json_reader_init_strict).  Values are
 * views of it: no tree is built, and numbers keep their digits.  A struct may
 * read any number of texts in sequence and reuses its memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_FIELDS_H
#define PROTO_JSON_JSON_FIELDS_H

#include "proto/json/json_reader.h"

/* Must be zeroed before its first use. */
struct json_fields {
	struct json_keys keys; /* keys.at[i] is the decoded key of values[i] */
	struct text *values;   /* `count` of them */
	uint32_t count, room;
	uint32_t next; /* probable position of the next lookup */
};

/* Read `from`, which must outlive the values.  -1: it is not JSON (err says
 * why and where), or not an object. */
int json_fields_read(
    struct json_fields *object, struct text from, struct err *err);
void json_fields_clear(struct json_fields *object);

/* The value of a member; NULL and 0 bytes when there is none. */
struct text json_fields_find(struct json_fields *object, const char *key);

/* Is the value of this type?  No for an absent one. */
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

/* Decode a text value; `*text` is valid until `object` reads the next text.
 * False: it is not text. */
bool json_fields_text(
    struct json_fields *object, struct text value, struct text *text);

/* A number as VALUE_INT or, if it has a fraction or an exponent, as the
 * nearest VALUE_FLOAT. -1: "is not a number" or "is out of range". */
int json_fields_number(
    struct text number, struct value *value, struct err *err);

#endif
