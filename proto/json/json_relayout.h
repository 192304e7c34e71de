/*
 * json_relayout - reformat JSON as Python's json.dumps does.
 *
 * ", " and ": ", ASCII only, floats in their shortest form, integers of any
 * size digit by digit, keys in their original order, duplicates included.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_RELAYOUT_H
#define PROTO_JSON_JSON_RELAYOUT_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/base/text.h"
#include "proto/json/json.h"

struct json_relayout {
	FILE *file; /* into `at` */
	char *at, *decoded;
	size_t bytes;
	uint32_t room; /* for decoded text */
};

void json_relayout_init(struct json_relayout *relayout);
void json_relayout_clear(struct json_relayout *relayout);

/* False: the text is not JSON, is nested deeper than 63 levels, or contains an
 * unpaired surrogate.  `to` is a view, valid until the next call. */
bool json_relayout(
    struct json_relayout *relayout, struct text json, struct text *to);
/* Write it with `to`, in the style of that; what was written when it turns out
 * that the text is none stays. */
bool json_relayout_into(
    struct json_relayout *relayout, struct json *to, struct text json);

#endif
