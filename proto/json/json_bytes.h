/*
 * json_bytes - write JSON in pieces, for outputs with millions of them.
 *
 * json.h writes through stdio; these functions write into the buffer of a
 * stream: get room for a row from byte_stream_room, write the pieces, call
 * byte_stream_filled.  Text is UTF-8; bytes that are not become U+FFFD.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_BYTES_H
#define PROTO_JSON_JSON_BYTES_H

#include <stdint.h>
#include <string.h>

#include "proto/stream/byte_stream.h"

/* Maximum lengths. */
enum { JSON_INTEGER_BYTES = 20, JSON_DECIMAL_BYTES = JSON_INTEGER_BYTES + 2 };

static inline unsigned char *
json_put_bytes(unsigned char *to, const char *bytes, size_t count)
{
	memcpy(to, bytes, count);
	return to + count;
}

#define JSON_PUT(to, literal)                                                  \
	json_put_bytes((to), (literal), sizeof(literal) - 1)

static inline unsigned char *
json_put_digits(unsigned char *to, uint64_t value)
{
	unsigned char reversed[JSON_INTEGER_BYTES];
	int count = 0;

	do
		reversed[count++] = (unsigned char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (count > 0)
		*to++ = reversed[--count];
	return to;
}

static inline unsigned char *
json_put_integer(unsigned char *to, int64_t value)
{
	if (value >= 0)
		return json_put_digits(to, (uint64_t)value);
	*to++ = '-';
	return json_put_digits(to, -(uint64_t)value);
}

/* Write `value` / `one` exactly (`one` is a power of ten): no trailing zeros,
 * no point without a fraction. */
static inline unsigned char *
json_put_decimal(unsigned char *to, int64_t value, uint64_t one)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint64_t rest = size % one;

	if (value < 0)
		*to++ = '-';
	to = json_put_digits(to, size / one);
	if (rest > 0)
		*to++ = '.';
	for (; rest > 0; rest %= one) {
		one /= 10;
		*to++ = (unsigned char)('0' + rest / one);
	}
	return to;
}

/* A quoted text of any length. */
void json_put_text(struct byte_stream *byte_stream, struct text t);

#endif
