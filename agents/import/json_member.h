/*
 * json_member - members of the JSON object of a row.
 *
 * Errors begin with the name of the member and return -1.  Texts are valid
 * while the object and the line that it was read from are.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_JSON_MEMBER_H
#define AGENTS_IMPORT_JSON_MEMBER_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/json/json_fields.h"

int json_member_text(struct json_fields *row, const char *key,
    struct text *text, struct err *err);
/* An optional text: empty (NULL) if it is absent or null. */
int json_member_text_if_any(struct json_fields *row, const char *key,
    struct text *text, struct err *err);
/* A text that is a valid name. */
int json_member_name(struct json_fields *row, const char *key,
    struct text *name, struct err *err);

int json_member_number(struct json_fields *row, const char *key,
    struct value *value, struct err *err);
/* A number of seconds since the epoch, with all of its digits. */
int json_member_time(struct json_fields *row, const char *key, int64_t *time_ns,
    struct err *err);

#endif
