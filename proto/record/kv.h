/*
 * kv - the message of an event: `img=redis:3,diff="1,5",size=188MB`.
 *
 * Commas separate pairs; the first '=' separates key and value.  A value may
 * be quoted: "..." with \" and \\ inside; a quoted value may contain commas. A
 * part without '=' is text without a key (the key is empty), not an error.
 * Blanks around keys and unquoted values are ignored.  Keys are names
 * (proto/base/text.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_KV_H
#define PROTO_RECORD_KV_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/text.h"

struct kv_pair {
	struct text key;   /* empty for a part without '=' */
	struct text value; /* raw: contains escapes if `escaped` */
	bool escaped;
};

/* Take the next pair from the front of `rest`; false at the end.  Never fails:
 * an unclosed quote extends to the end. */
bool kv_next(struct text *rest, struct kv_pair *pair);

/* Find `key` in a message; the last occurrence wins. */
bool kv_find(struct text message, struct text key, struct kv_pair *pair);

/* Decode the escapes of the value; `to` has room for at least value.bytes. */
struct text kv_unescape(const struct kv_pair *pair, char *to);

#endif
