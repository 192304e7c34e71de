/*
 * import_clean_name - any bytes as a name that the store takes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/clean_name.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/base/hash.h"

/* The next character of `rest`: of UTF-8, else of Latin-1. */
static uint32_t
take_character(struct text *rest, bool is_utf8)
{
	const unsigned char *s = (const unsigned char *)rest->at;
	uint32_t bytes = !is_utf8 || s[0] < 0x80 ? 1
			 : s[0] >= 0xF0          ? 4
			 : s[0] >= 0xE0          ? 3
						 : 2;
	uint32_t c = bytes == 1 ? s[0] : s[0] & (0x7Fu >> bytes);

	for (uint32_t i = 1; i < bytes; i++)
		c = c << 6 | (s[i] & 0x3F);
	rest->at += bytes;
	rest->bytes -= bytes;
	return c < 0x20 || (c >= 0x7F && c < 0xA0) ? 0xFFFD : c;
}

static uint32_t
put_character(char to[static 4], uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xC0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xE0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3F));
		to[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	to[0] = (char)(0xF0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3F));
	to[2] = (char)(0x80 | (c >> 6 & 0x3F));
	to[3] = (char)(0x80 | (c & 0x3F));
	return 4;
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
		used +=
		    put_character(to + used, take_character(&rest, is_utf8));
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
