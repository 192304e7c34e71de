/*
 * json_member - members of the JSON object that a row is.
 *
 * -1: what is wrong with it, with its name in front.  Texts are valid as long
 * as the object and what it was read from.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_JSON_MEMBER_H
#define AGENTS_IMPORT_JSON_MEMBER_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/format/json_fields.h"

int json_member_text(struct json_fields *row, const char *key,
    struct text *text, struct err *err);
/* That may be absent or null, and is then empty (NULL). */
int json_member_text_if_any(struct json_fields *row, const char *key,
    struct text *text, struct err *err);
/* That keeps to the rules for names. */
int json_member_name(struct json_fields *row, const char *key,
    struct text *name, struct err *err);

int json_member_number(struct json_fields *row, const char *key,
    struct value *value, struct err *err);
/* A number of seconds since the epoch, every digit of it. */
int json_member_time(struct json_fields *row, const char *key, int64_t *time_ns,
    struct err *err);

#endif
