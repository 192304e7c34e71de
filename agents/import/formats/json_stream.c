/*
 * json_stream - reads a large JSON text, one value at a time.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/json_stream.h"

#include <stdio.h>
#include <string.h>

#include "agents/import/row.h"

/* State within a value. */
struct value_state {
	uint64_t depth; /* of brackets */
	bool begun, in_text, escaped, plain;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* View `least` bytes or the rest; false at the end or after a fault. */
static bool
see(struct json_stream *scan, size_t least, struct text *view)
{
	if (scan->fault != JSON_STREAM_OK)
		return false;
	if (import_file_see(scan->file, least, view, &scan->err) != 0) {
		scan->fault = JSON_STREAM_FAILED;
		return false;
	}
	return view->bytes >= least;
}

static void
break_off(struct json_stream *scan, const char *why)
{
	if (scan->fault != JSON_STREAM_OK)
		return;
	scan->fault = JSON_STREAM_BROKEN;
	err_set(&scan->err, "not JSON: %s; nothing more is read", why);
}

bool
json_stream_more(struct json_stream *scan)
{
	struct text view;

	while (see(scan, 1, &view)) {
		uint32_t blanks = 0;

		while (blanks < view.bytes && is_blank(view.at[blanks]))
			blanks++;
		import_file_take(scan->file, blanks);
		if (blanks < view.bytes)
			return true;
	}
	return false;
}

int
json_stream_peek(struct json_stream *scan)
{
	struct text view;

	if (json_stream_more(scan) && see(scan, 1, &view))
		return (unsigned char)view.at[0];
	break_off(scan, "unexpected end");
	return -1;
}

void
json_stream_expect(struct json_stream *scan, char wanted)
{
	char why[32];
	int c = json_stream_peek(scan);

	if (c == wanted) {
		import_file_take(scan->file, 1);
	} else if (c >= 0) {
		snprintf(why, sizeof(why), "expected '%c' here", wanted);
		break_off(scan, why);
	}
}

/* Continue within a value.  True: it ends before byte `*at` of `view`. */
static bool
walk(struct value_state *v, struct text view, uint32_t *at)
{
	while (*at < view.bytes) {
		char c = view.at[*at];

		if (v->plain && (is_blank(c) || strchr(",]}:", c) != NULL))
			return true;
		(*at)++;
		if (v->in_text) {
			if (!v->escaped && c == '"')
				v->in_text = false;
			v->escaped = !v->escaped && c == '\\';
		} else if (c == '"') {
			v->in_text = true;
		} else if (c == '{' || c == '[') {
			v->depth++;
		} else if ((c == '}' || c == ']') && v->depth > 0) {
			v->depth--;
		} else if (!v->begun) {
			v->plain = true; /* a number or a word */
		}
		v->begun = true;
		if (!v->plain && v->depth == 0 && !v->in_text)
			return true;
	}
	return false;
}

struct text
json_stream_value(struct json_stream *scan)
{
	static const struct text none = { NULL, 0 };
	struct value_state v = { .begun = false };
	struct text view;
	uint32_t at = 0;
	bool too_long = false;
	int first = json_stream_peek(scan);

	if (first >= 0 && strchr(",:]}", first) != NULL)
		break_off(scan, "expected a value here");
	while (see(scan, (size_t)at + 1, &view)) {
		bool ends = walk(&v, view, &at);

		too_long = too_long || at > IMPORT_LINE_BYTES_MAX;
		if (!ends && !too_long)
			continue;
		import_file_take(scan->file, at);
		if (ends)
			return too_long ? none : (struct text){ view.at, at };
		at = 0;
	}
	break_off(scan, "unexpected end");
	return none;
}

void
json_stream_skip(struct json_stream *scan)
{
	json_stream_value(scan);
}

int
json_stream_drain(struct json_stream *scan)
{
	struct text view;

	while (see(scan, 1, &view))
		import_file_take(scan->file, view.bytes);
	return scan->fault == JSON_STREAM_FAILED ? -1 : 0;
}
