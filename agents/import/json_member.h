/*
 * json_member - members of the JSON object that a row is.
 *
 * -1: what is wrong with it, with its name in front.  Texts are views, valid
 * as long as the object.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_JSON_MEMBER_H
#define AGENTS_IMPORT_JSON_MEMBER_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct json_t; /* jansson's */

int json_member_text(
    struct json_t *row, const char *key, struct text *text, struct err *err);
/* That may be absent or null, and is then empty (NULL). */
int json_member_text_if_any(
    struct json_t *row, const char *key, struct text *text, struct err *err);
/* That keeps to the rules for names. */
int json_member_name(
    struct json_t *row, const char *key, struct text *name, struct err *err);

/* A number of seconds since the epoch, every digit of it: `line` is the text
 * that `row` was made from. */
int json_member_time(struct json_t *row, struct text line, const char *key,
    int64_t *time_ns, struct err *err);

/* A member as it stands in `line`; empty when there is none. */
struct text json_member_raw(
    struct json_t *row, struct text line, const char *key);

#endif
