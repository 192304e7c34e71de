/*
 * json_relayout - reformat JSON as Python's json.dumps does.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_relayout.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/json/json.h"
#include "proto/json/json_reader.h"

enum { DIGITS_MAX = 4096 };

void
json_relayout_init(struct json_relayout *relayout)
{
	*relayout = (struct json_relayout){ .at = NULL };
	relayout->file = memory_stream(&relayout->at, &relayout->bytes);
}

void
json_relayout_clear(struct json_relayout *relayout)
{
	fclose(relayout->file);
	free(relayout->at);
	free(relayout->decoded);
	*relayout = (struct json_relayout){ .at = NULL };
}

static bool
decode(struct json_relayout *relayout, struct text quoted, struct text *to)
{
	if (quoted.bytes >= relayout->room) {
		relayout->room = 2 * quoted.bytes + 64;
		relayout->decoded =
		    memory_resize(relayout->decoded, relayout->room);
	}
	to->at = relayout->decoded;
	return json_reader_decode(relayout->decoded, quoted, &to->bytes);
}

static bool
put_number(struct json *json, struct text word)
{
	struct value value;

	if (!json_reader_is_whole(word)) {
		json_reader_number(word, &value);
		json_float(json, value.is.f);
		return true;
	}
	if (word.bytes >= DIGITS_MAX)
		return false;
	json_raw(json, text_equal(word, text_of("-0")) ? text_of("0") : word);
	return true;
}

static bool
put_word(struct json *json, struct text word)
{
	if (word.bytes == 0)
		return false;
	switch (word.at[0]) {
	case 't': json_bool(json, true); return true;
	case 'f': json_bool(json, false); return true;
	case 'n': json_null(json); return true;
	default: return put_number(json, word);
	}
}

/* the depth limit of json_reader */
static bool
put_next(
    struct json_relayout *relayout, struct json *json, struct json_reader *scan)
{
	struct text text, decoded;
	bool good = true;

	switch (json_reader_peek(scan)) {
	case '{':
		if (!json_reader_enter(scan, '{'))
			return false;
		json_begin_object(json);
		while (good && json_reader_member(scan, &text)) {
			good = decode(relayout, text, &decoded);
			if (good) {
				json_key(json, decoded);
				good = put_next(relayout, json, scan);
			}
		}
		if (good && !scan->bad)
			json_end_object(json);
		return good && !scan->bad;
	case '[':
		if (!json_reader_enter(scan, '['))
			return false;
		json_begin_array(json);
		while (good && json_reader_item(scan))
			good = put_next(relayout, json, scan);
		if (good && !scan->bad)
			json_end_array(json);
		return good && !scan->bad;
	case '"':
		text = json_reader_take(scan);
		if (scan->bad)
			return false;
		text = (struct text){ text.at + 1, text.bytes - 2 };
		good = decode(relayout, text, &decoded);
		if (good)
			json_text(json, decoded);
		return good;
	default:
		text = json_reader_take(scan);
		return !scan->bad && put_word(json, text);
	}
}

bool
json_relayout_into(
    struct json_relayout *relayout, struct json *to, struct text json)
{
	struct json_reader scan;

	json_reader_init(&scan, json);
	return text_is_utf8(json) && put_next(relayout, to, &scan) &&
	       json_reader_finish(&scan);
}

bool
json_relayout(struct json_relayout *relayout, struct text from, struct text *to)
{
	struct json json;

	rewind(relayout->file);
	json_init(&json, relayout->file, JSON_LINE);
	if (!json_relayout_into(relayout, &json, from))
		return false;
	fflush(relayout->file);
	*to = (struct text){ relayout->at, (uint32_t)relayout->bytes };
	return true;
}
