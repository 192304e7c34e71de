/*
 * import_clean_name - makes a valid name of any bytes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/clean_name.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

/* The next character of `rest`, as UTF-8 or else as Latin-1. */
static uint32_t
take_character(struct text *rest, bool is_utf8)
{
	uint32_t c = (unsigned char)*rest->at;
	uint32_t bytes = is_utf8 ? text_character(*rest, &c) : 1;

	rest->at += bytes;
	rest->bytes -= bytes;
	return c < 0x20 || (c >= 0x7F && c < 0xA0) ? 0xFFFD : c;
}

bool
import_name_set(struct import_name *name, struct text bytes)
{
	static const struct hash_key fixed = { 0, 0 };
	char end[1 + 16 + 1], to[NAME_BYTES_MAX + 4];
	uint32_t used = 0, cut = 0;
	bool is_utf8;
	struct text rest = bytes;

	if (text_check_name(bytes) == TEXT_OK) {
		memcpy(name->at, bytes.at, bytes.bytes);
		name->bytes = (uint8_t)bytes.bytes;
		return true;
	}
	is_utf8 = text_is_utf8(bytes);
	while (rest.bytes > 0 && used <= NAME_BYTES_MAX) {
		used += text_put_character(
		    to + used, take_character(&rest, is_utf8));
		if (used <= NAME_BYTES_MAX - (sizeof(end) - 1))
			cut = used;
	}
	if (bytes.bytes == 0)
		used = (uint32_t)sprintf(to, "(no name)");
	if (used > NAME_BYTES_MAX || rest.bytes > 0) {
		sprintf(end, "~%016" PRIx64,
		    hash_bytes(fixed, bytes.at, bytes.bytes));
		memcpy(to + cut, end, sizeof(end) - 1);
		used = cut + (uint32_t)sizeof(end) - 1;
	}
	memcpy(name->at, to, used);
	name->bytes = (uint8_t)used;
	return false;
}
