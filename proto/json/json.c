/*
 * json - write JSON incrementally, without building a tree.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json.h"

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/json/json_bytes.h"
#include "proto/os/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

void
json_init(struct json *json, FILE *file, unsigned style)
{
	*json = (struct json){ .file = file, .style = style };
}

static void
put(struct json *json, const char *s)
{
	fputs_unlocked(s, json->file);
}

static void
put_byte(struct json *json, int c)
{
	putc_unlocked(c, json->file);
}

static void
new_line(struct json *json)
{
	unsigned blanks =
	    json->style & JSON_WIDE ? 4 * json->depth : json->depth;

	put_byte(json, '\n');
	while (blanks-- > 0)
		put_byte(json, ' ');
}

/* Write the separator between the previous item and this one. */
static void
separate(struct json *json)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->depth == 0)
		return;
	if (json->style & JSON_INDENTED) {
		if (json->filled & bit)
			put_byte(json, ',');
		new_line(json);
	} else if (json->filled & bit) {
		put(json, json->style & JSON_COMPACT ? "," : ", ");
	}
	json->filled |= bit;
}

static void
begin(struct json *json, int bracket)
{
	separate(json);
	put_byte(json, bracket);
	json->depth++;
	assert(json->depth <= JSON_DEPTH_MAX);
	json->filled &= ~(UINT64_C(1) << json->depth);
}

static void
end(struct json *json, int bracket)
{
	bool filled = json->filled >> json->depth & 1;

	assert(json->depth > 0 && !json->after_key);
	json->depth--;
	if (filled && json->style & JSON_INDENTED)
		new_line(json);
	put_byte(json, bracket);
}

void
json_begin_object(struct json *json)
{
	begin(json, '{');
}

void
json_end_object(struct json *json)
{
	end(json, '}');
}

void
json_begin_array(struct json *json)
{
	begin(json, '[');
}

void
json_end_array(struct json *json)
{
	end(json, ']');
}

static void
put_escaped(struct json *json, uint32_t c)
{
	switch (c) {
	case '"': put(json, "\\\""); return;
	case '\\': put(json, "\\\\"); return;
	case '\b': put(json, "\\b"); return;
	case '\f': put(json, "\\f"); return;
	case '\n': put(json, "\\n"); return;
	case '\r': put(json, "\\r"); return;
	case '\t': put(json, "\\t"); return;
	}
	if (c >= 0x10000) {
		c -= 0x10000;
		fprintf(json->file, "\\u%04x", 0xD800 + (c >> 10));
		c = 0xDC00 + (c & 0x3FF);
	}
	fprintf(json->file, "\\u%04x", c);
}

/* Needs no escape. */
static bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static void
put_bytes(
    struct json *json, const unsigned char *from, const unsigned char *end)
{
	fwrite_unlocked(from, 1, (size_t)(end - from), json->file);
}

static void
put_quoted(struct json *json, struct text t)
{
	const unsigned char *s = (const unsigned char *)t.at;

	put_byte(json, '"');
	for (uint32_t i = 0; i < t.bytes;) {
		uint32_t bytes, c, from = i;

		while (i < t.bytes && is_plain(s[i]))
			i++;
		put_bytes(json, s + from, s + i);
		if (i == t.bytes)
			break;
		bytes =
		    text_character((struct text){ t.at + i, t.bytes - i }, &c);
		if (bytes == 0) {
			c = 0xFFFD; /* the replacement character */
			bytes = 1;
		}
		put_escaped(json, c);
		i += bytes;
	}
	put_byte(json, '"');
}

void
json_key(struct json *json, struct text key)
{
	assert(!json->after_key);
	separate(json);
	put_quoted(json, key);
	put_byte(json, ':');
	if (!(json->style & JSON_COMPACT))
		put_byte(json, ' ');
	json->after_key = true;
}

void
json_name(struct json *json, const char *key)
{
	json_key(json, text_of(key));
}

void
json_text(struct json *json, struct text value)
{
	separate(json);
	put_quoted(json, value);
}

void
json_string(struct json *json, const char *value)
{
	json_text(json, text_of(value));
}

void
json_int(struct json *json, int64_t value)
{
	unsigned char text[JSON_DECIMAL_BYTES];

	separate(json);
	put_bytes(json, text, json_put_integer(text, value));
}

void
json_uint(struct json *json, uint64_t value)
{
	unsigned char text[JSON_DECIMAL_BYTES];

	separate(json);
	put_bytes(json, text, json_put_digits(text, value));
}

void
json_raw(struct json *json, struct text value)
{
	separate(json);
	fwrite_unlocked(value.at, 1, value.bytes, json->file);
}

void
json_float(struct json *json, double value)
{
	char text[NUMBER_BYTES];
	size_t bytes;

	separate(json);
	if (isfinite(value)) {
		bytes = number_repr(text, value);
		fwrite_unlocked(text, 1, bytes, json->file);
	} else if (json->style & JSON_STRICT) {
		put(json, "null");
	} else {
		put(json, isnan(value) ? "NaN"
			  : value < 0  ? "-Infinity"
				       : "Infinity");
	}
}

void
json_bool(struct json *json, bool value)
{
	separate(json);
	put(json, value ? "true" : "false");
}

void
json_null(struct json *json)
{
	separate(json);
	put(json, "null");
}

void
json_hex(struct json *json, struct text bytes)
{
	separate(json);
	put_byte(json, '"');
	for (uint32_t i = 0; i < bytes.bytes; i++) {
		char digits[2];

		text_hex(digits, bytes.at + i, 1);
		fwrite_unlocked(digits, 1, sizeof(digits), json->file);
	}
	put_byte(json, '"');
}

void
json_value(struct json *json, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL: json_null(json); break;
	case VALUE_BOOL: json_bool(json, value->is.boolean); break;
	case VALUE_INT: json_int(json, value->is.i); break;
	case VALUE_UINT: json_uint(json, value->is.u); break;
	case VALUE_FLOAT: json_float(json, value->is.f); break;
	case VALUE_TEXT: json_text(json, value->is.text); break;
	}
}

void
json_pairs(struct json *json, struct text pairs)
{
	struct record_attribute a;

	json_begin_object(json);
	while (record_next_attribute(&pairs, &a)) {
		json_key(json, a.key);
		json_value(json, &a.value);
	}
	json_end_object(json);
}

#define MEMBER(what, type)                                                     \
	void json_add_##what(struct json *json, const char *key, type value)   \
	{                                                                      \
		json_name(json, key);                                          \
		json_##what(json, value);                                      \
	}
MEMBER(text, struct text)
MEMBER(string, const char *)
MEMBER(int, int64_t)
MEMBER(uint, uint64_t)
MEMBER(float, double)
MEMBER(bool, bool)

void
json_add_object(struct json *json, const char *key)
{
	json_name(json, key);
	json_begin_object(json);
}

void
json_add_array(struct json *json, const char *key)
{
	json_name(json, key);
	json_begin_array(json);
}

void
json_add_time(struct json *json, const char *key, int64_t ns, int digits)
{
	char text[CLOCK_TEXT_BYTES];

	json_name(json, key);
	if (ns == INT64_MIN)
		json_null(json);
	else
		json_string(json, clock_text(text, ns, digits));
}

void
json_memory_begin(struct json_memory *json, unsigned style)
{
	FILE *file;

	json->text = NULL;
	file = memory_stream(&json->text, &json->bytes);
	json_init(&json->to, file, style);
}

struct text
json_memory_end(struct json_memory *json)
{
	fclose(json->to.file);
	return (struct text){ json->text, (uint32_t)json->bytes };
}
