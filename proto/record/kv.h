/*
 * kv - the message of an event: `img=redis:3,diff="1,5",size=188MB`.
 *
 * Pairs are separated by commas, key and value by the first '='.  A value may
 * be quoted: "..." with \" and \\ inside; so may hold commas.  A part without
 * '=' is text without a key (key empty), not an error.  Blanks around keys
 * and unquoted values do not count.  Keys are names (proto/base/text.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_KV_H
#define PROTO_RECORD_KV_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"

struct kv_pair {
	struct text key;   /* empty for a part without '=' */
	struct text value; /* raw: still with its escapes when `escaped` */
	bool escaped;
};

/* Take the next pair off the front of `rest`; false at the end.  Never
 * fails: a quote that is not closed runs to the end. */
bool kv_next(struct text *rest, struct kv_pair *pair);

/* Find `key` in a message; the last one wins. */
bool kv_find(struct text message, struct text key, struct kv_pair *pair);

/* The value without its escapes; `to` holds at least value.bytes. */
struct text kv_unescape(const struct kv_pair *pair, char *to);

#endif
