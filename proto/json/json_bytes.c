/*
 * json_bytes - write JSON in pieces, for outputs with millions of them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_bytes.h"

#include <stdbool.h>

#include "proto/base/text.h"
#include "proto/json/json.h"

enum {
	RUN_BYTES_MAX = 1024, /* of text, copied at a time */
	ESCAPED_BYTES = 6,    /* \u001F */
};

static bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* One character that needs an escape; returns its length in `s`. */
static uint32_t
put_character(
    struct byte_stream *byte_stream, const unsigned char *s, uint32_t left)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char *to = byte_stream_room(byte_stream, ESCAPED_BYTES);
	uint32_t bytes = 1, c = s[0];

	if (c >= 0x80) {
		bytes =
		    text_character((struct text){ (const char *)s, left }, &c);
		if (bytes > 0)
			to = json_put_bytes(to, (const char *)s, bytes);
		else
			to = JSON_PUT(to, "\xEF\xBF\xBD");
		bytes += bytes == 0;
	} else if (c == '"' || c == '\\') {
		*to++ = '\\';
		*to++ = (unsigned char)c;
	} else {
		to = JSON_PUT(to, "\\u00");
		*to++ = (unsigned char)digits[c >> 4];
		*to++ = (unsigned char)digits[c & 15];
	}
	byte_stream_filled(byte_stream, to);
	return bytes;
}

void
json_put_text(struct byte_stream *byte_stream, struct text t)
{
	const unsigned char *s = (const unsigned char *)t.at;
	unsigned char *to = byte_stream_room(byte_stream, RUN_BYTES_MAX + 1);
	uint32_t i = 0;

	*to++ = '"';
	while (i < t.bytes) {
		uint32_t run = 0, most = t.bytes - i;

		if (most > RUN_BYTES_MAX)
			most = RUN_BYTES_MAX;
		while (run < most && is_plain(s[i + run])) {
			to[run] = s[i + run];
			run++;
		}
		byte_stream_filled(byte_stream, to + run);
		i += run;
		if (run < most)
			i += put_character(byte_stream, s + i, t.bytes - i);
		to = byte_stream_room(byte_stream, RUN_BYTES_MAX + 1);
	}
	*to++ = '"';
	byte_stream_filled(byte_stream, to);
}
