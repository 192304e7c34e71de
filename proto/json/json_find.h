/*
 * json_find - values inside a JSON text, by the names of members.
 *
 * The whole text is checked first, strictly (json_reader_init_strict).  Values
 * are views of it: no tree is built, nothing is allocated but what
 * json_find_string returns, and a text that is a secret is copied nowhere else.
 * Each search reads the object once.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_FIND_H
#define PROTO_JSON_JSON_FIND_H

#include <stdbool.h>

#include "proto/base/text.h"

/* The object that the text is.  0 bytes, in which nothing is found: it is not
 * one, or not JSON. */
struct text json_find_root(struct text from);

/* The value of a member (of at most 32 letters).  0 bytes: there is none, or
 * `object` is none. */
struct text json_find(struct text object, const char *name);

/* Take the next item from the front of a list.  False at its end, and for what
 * is not a list. */
bool json_find_item(struct text *list, struct text *item);

/* A string, decoded; the caller frees it.  NULL: the value is not one. */
char *json_find_string(struct text value);
/* The same into `to`, which has room for value.bytes.  False: not a string. */
bool json_find_string_into(char *to, struct text value);
/* Is it this string? */
bool json_find_is(struct text value, const char *wanted);

#endif
