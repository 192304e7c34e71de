/*
 * kv - the message of an event.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/kv.h"

static struct text
trim(struct text t)
{
	while (t.bytes > 0 && (t.at[0] == ' ' || t.at[0] == '\t')) {
		t.at++;
		t.bytes--;
	}
	while (t.bytes > 0 &&
	       (t.at[t.bytes - 1] == ' ' || t.at[t.bytes - 1] == '\t'))
		t.bytes--;
	return t;
}

/* Take a quoted value whose opening quote is the first byte of `rest`.  Drop
 * the bytes between the closing quote and the next comma. */
static void
take_quoted(struct text *rest, struct kv_pair *pair)
{
	uint32_t i = 1;

	while (i < rest->bytes && rest->at[i] != '"') {
		if (rest->at[i] == '\\' && i + 1 < rest->bytes) {
			pair->escaped = true;
			i++;
		}
		i++;
	}
	pair->value = (struct text){ rest->at + 1, i - 1 };
	while (i < rest->bytes && rest->at[i] != ',')
		i++;
	rest->at += i;
	rest->bytes -= i;
}

bool
kv_next(struct text *rest, struct kv_pair *pair)
{
	struct text part;
	uint32_t i = 0;

	*pair = (struct kv_pair){ .escaped = false };
	*rest = trim(*rest);
	if (rest->bytes == 0)
		return false;
	while (i < rest->bytes && rest->at[i] != '=' && rest->at[i] != ',')
		i++;
	part = (struct text){ rest->at, i };
	rest->at += i;
	rest->bytes -= i;
	if (rest->bytes == 0 || rest->at[0] == ',') {
		pair->value = trim(part); /* no '=': text without a key */
	} else {
		pair->key = trim(part);
		rest->at++;
		rest->bytes--;
		while (rest->bytes > 0 &&
		       (rest->at[0] == ' ' || rest->at[0] == '\t')) {
			rest->at++;
			rest->bytes--;
		}
		if (rest->bytes > 0 && rest->at[0] == '"') {
			take_quoted(rest, pair);
		} else {
			i = 0;
			while (i < rest->bytes && rest->at[i] != ',')
				i++;
			pair->value = trim((struct text){ rest->at, i });
			rest->at += i;
			rest->bytes -= i;
		}
	}
	if (rest->bytes > 0) { /* the comma */
		rest->at++;
		rest->bytes--;
	}
	return true;
}

bool
kv_find(struct text message, struct text key, struct kv_pair *pair)
{
	struct kv_pair each;
	bool found = false;

	while (kv_next(&message, &each)) {
		if (each.key.bytes > 0 && text_equal(each.key, key)) {
			*pair = each;
			found = true;
		}
	}
	return found;
}

struct text
kv_unescape(const struct kv_pair *pair, char *to)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < pair->value.bytes; i++) {
		if (pair->escaped && pair->value.at[i] == '\\' &&
		    i + 1 < pair->value.bytes)
			i++;
		to[used++] = pair->value.at[i];
	}
	return (struct text){ to, used };
}
