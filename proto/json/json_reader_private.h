/*
 * json_reader_private - shared by the reader, which checks, and the files that
 * decode what it has accepted.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_JSON_JSON_READER_PRIVATE_H
#define PROTO_JSON_JSON_READER_PRIVATE_H

#include "proto/json/json_reader.h"

static inline const char *
json_skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

static inline int
json_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool
json_is_high_half(uint32_t unit)
{
	return unit >= 0xD800 && unit < 0xDC00;
}

static inline bool
json_is_low_half(uint32_t unit)
{
	return unit >= 0xDC00 && unit < 0xE000;
}

#endif
