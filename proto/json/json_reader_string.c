/*
 * json_reader_string - decode strings that a reader has accepted.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_reader_private.h"

#include <string.h>

static uint32_t
hex_unit(const char *at)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++)
		unit = unit << 4 | (uint32_t)json_hex_value(at[i]);
	return unit;
}

/* After "\u"; returns the number of bytes, 0: an unpaired surrogate. */
static uint32_t
get_character(const char *at, const char *end, uint32_t *c)
{
	*c = hex_unit(at);
	if (!json_is_high_half(*c) && !json_is_low_half(*c))
		return 4;
	if (json_is_high_half(*c) && end - at >= 10 && at[4] == '\\' &&
	    at[5] == 'u') {
		uint32_t low = hex_unit(at + 6);

		if (json_is_low_half(low)) {
			*c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
			return 10;
		}
	}
	return 0;
}

bool
json_reader_decode(char *to, struct text quoted, uint32_t *bytes)
{
	static const char escapes[] = "bfnrt\"\\/", plain[] = "\b\f\n\r\t\"\\/";
	const char *at = quoted.at, *end = quoted.at + quoted.bytes;
	uint32_t done = 0;

	while (at < end) {
		uint32_t c, used;

		if (*at != '\\') {
			to[done++] = *at++;
			continue;
		}
		at++;
		if (*at != 'u') {
			to[done++] = plain[strchr(escapes, *at) - escapes];
			at++;
			continue;
		}
		used = get_character(++at, end, &c);
		if (used == 0)
			return false;
		done += text_put_character(to + done, c);
		at += used;
	}
	*bytes = done;
	return true;
}

struct text
json_keys_decode(struct json_keys *keys, struct text quoted)
{
	struct text text = quoted;
	char *to;

	if (quoted.bytes == 0 || memchr(quoted.at, '\\', quoted.bytes) == NULL)
		return quoted;
	to = arena_room(&keys->decoded, quoted.bytes);
	json_reader_decode(to, quoted, &text.bytes);
	arena_keep(&keys->decoded, text.bytes);
	text.at = to;
	return text;
}

bool
json_reader_is(struct text key, const char *word)
{
	char plain[192]; /* a word of 32 letters, each escaped */
	uint32_t bytes;

	if (memchr(key.at, '\\', key.bytes) == NULL)
		return text_equal(key, text_of(word));
	return key.bytes <= sizeof(plain) &&
	       json_reader_decode(plain, key, &bytes) &&
	       text_equal((struct text){ plain, bytes }, text_of(word));
}
