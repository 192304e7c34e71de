/*
 * json_relayout - JSON once more, laid out as Python's json.dumps does it.
 *
 * ", " and ": ", ASCII only, floats in their shortest form, integers of any
 * size digit by digit, the keys in their order (each as often as it is there).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_JSON_RELAYOUT_H
#define PROTO_FORMAT_JSON_RELAYOUT_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/base/text.h"

struct json_relayout {
	FILE *file; /* into `at` */
	char *at, *decoded;
	size_t bytes;
	uint32_t room; /* of what is decoded */
};

void json_relayout_init(struct json_relayout *again);
void json_relayout_clear(struct json_relayout *again);

/* False: this is no JSON, is nested deeper than 63, or has half a character
 * (a surrogate) in it.  `to` is a view, valid until the next call. */
bool json_relayout(
    struct json_relayout *again, struct text json, struct text *to);

#endif
