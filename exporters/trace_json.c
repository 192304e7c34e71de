/*
 * trace_json - the events of Chrome's trace format, written as they come.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace_json.h"

#include <assert.h>
#include <math.h>

#include "exporters/decimal.h"
#include "exporters/json.h"

enum {
	RUN_BYTES_MAX = 1024, /* of text that are copied at once */
	ESCAPED_BYTES = 6,    /* \u001F */
	INTEGER_BYTES = 20,
	MICROS_BYTES = INTEGER_BYTES + 1,
};

/* ---- pieces ---- */

#define LITERAL(to, literal) put_literal((to), (literal), sizeof(literal) - 1)

static unsigned char *
put_literal(unsigned char *to, const char *literal, size_t bytes)
{
	memcpy(to, literal, bytes);
	return to + bytes;
}

static unsigned char *
put_digits(unsigned char *to, uint64_t value)
{
	unsigned char reversed[INTEGER_BYTES];
	int count = 0;

	do
		reversed[count++] = (unsigned char)('0' + value % 10);
	while ((value /= 10) != 0);
	while (count > 0)
		*to++ = reversed[--count];
	return to;
}

static unsigned char *
put_integer(unsigned char *to, int64_t value)
{
	if (value >= 0)
		return put_digits(to, (uint64_t)value);
	*to++ = '-';
	return put_digits(to, -(uint64_t)value);
}

/* Nanoseconds as microseconds: no zeros at the end, no point without a
 * fraction. */
static unsigned char *
put_micros(unsigned char *to, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned rest = (unsigned)(size % 1000);

	if (ns < 0)
		*to++ = '-';
	to = put_digits(to, size / 1000);
	if (rest == 0)
		return to;
	*to++ = '.';
	*to++ = (unsigned char)('0' + rest / 100);
	if (rest % 100 == 0)
		return to;
	*to++ = (unsigned char)('0' + rest / 10 % 10);
	if (rest % 10 != 0)
		*to++ = (unsigned char)('0' + rest % 10);
	return to;
}

static bool
is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* One character that does not stand for itself; returns its bytes in `s`. */
static uint32_t
put_character(struct stream *stream, const unsigned char *s, uint32_t left)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char *to = stream_room(stream, ESCAPED_BYTES);
	uint32_t bytes = 1, c = s[0];

	if (c >= 0x80) {
		c = json_character(s, left, &bytes);
		if (c == JSON_NO_CHARACTER && bytes == 1)
			to = LITERAL(to, "\xEF\xBF\xBD");
		else
			to = put_literal(to, (const char *)s, bytes);
	} else if (c == '"' || c == '\\') {
		*to++ = '\\';
		*to++ = (unsigned char)c;
	} else {
		to = LITERAL(to, "\\u00");
		*to++ = (unsigned char)digits[c >> 4];
		*to++ = (unsigned char)digits[c & 15];
	}
	stream_filled(stream, to);
	return bytes;
}

static void
put_text(struct stream *stream, struct text t)
{
	const unsigned char *s = (const unsigned char *)t.at;
	unsigned char *to = stream_room(stream, RUN_BYTES_MAX + 1);
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
		stream_filled(stream, to + run);
		i += run;
		if (run < most)
			i += put_character(stream, s + i, t.bytes - i);
		to = stream_room(stream, RUN_BYTES_MAX + 1);
	}
	*to++ = '"';
	stream_filled(stream, to);
}

/* A number that is none is null. */
static void
put_float(struct stream *stream, double value)
{
	char text[NUMBER_BYTES];

	if (isfinite(value))
		stream_put(stream, text, decimal_repr(text, value));
	else
		stream_put(stream, "null", 4);
}

static void
put_value(struct stream *stream, const struct value *value)
{
	unsigned char *to = stream_room(stream, INTEGER_BYTES);

	switch (value->type) {
	case VALUE_NIL: to = LITERAL(to, "null"); break;
	case VALUE_BOOL:
		to = value->is.boolean ? LITERAL(to, "true")
				       : LITERAL(to, "false");
		break;
	case VALUE_INT: to = put_integer(to, value->is.i); break;
	case VALUE_UINT: to = put_digits(to, value->is.u); break;
	case VALUE_FLOAT: put_float(stream, value->is.f); return;
	case VALUE_TEXT: put_text(stream, value->is.text); return;
	}
	stream_filled(stream, to);
}

static void
put_string(struct stream *stream, const char *string)
{
	stream_put(stream, string, strlen(string));
}

static void
put_pairs(struct stream *stream, struct text pairs)
{
	const char *before = "{";
	struct attribute a;

	while (record_next_attribute(&pairs, &a)) {
		put_string(stream, before);
		put_text(stream, a.key);
		put_string(stream, ":");
		put_value(stream, &a.value);
		before = ",";
	}
	put_string(stream, *before == '{' ? "{}" : "}");
}

/* ---- events ---- */

static void
begin_event(struct trace_json *json)
{
	put_string(
	    json->stream, json->has_events ? ",\n{\"name\":" : "\n{\"name\":");
	json->has_events = true;
}

static void
begin_metadata(
    struct trace_json *json, const char *what, int64_t pid, const int64_t *tid)
{
	unsigned char *to;

	begin_event(json);
	put_text(json->stream, text_of(what));
	to = LITERAL(stream_room(json->stream, 128), ",\"ph\":\"M\",\"pid\":");
	to = put_integer(to, pid);
	if (tid != NULL)
		to = put_integer(LITERAL(to, ",\"tid\":"), *tid);
	stream_filled(json->stream, LITERAL(to, ",\"args\":"));
}

static void
put_name(struct trace_json *json, const char *what, int64_t pid,
    const int64_t *tid, struct text name)
{
	begin_metadata(json, what, pid, tid);
	put_string(json->stream, "{\"name\":");
	put_text(json->stream, name);
	put_string(json->stream, "}}");
}

static void
put_sort(struct trace_json *json, const char *what, int64_t pid,
    const int64_t *tid, int64_t sort_index)
{
	unsigned char *to;

	begin_metadata(json, what, pid, tid);
	to = LITERAL(stream_room(json->stream, 64), "{\"sort_index\":");
	stream_filled(json->stream, LITERAL(put_integer(to, sort_index), "}}"));
}

void
trace_json_process_name(struct trace_json *json, int64_t pid, struct text name)
{
	put_name(json, "process_name", pid, NULL, name);
}

void
trace_json_process_sort(
    struct trace_json *json, int64_t pid, int64_t sort_index)
{
	put_sort(json, "process_sort_index", pid, NULL, sort_index);
}

void
trace_json_thread_name(
    struct trace_json *json, int64_t pid, int64_t tid, struct text name)
{
	put_name(json, "thread_name", pid, &tid, name);
}

void
trace_json_thread_sort(
    struct trace_json *json, int64_t pid, int64_t tid, int64_t sort_index)
{
	put_sort(json, "thread_sort_index", pid, &tid, sort_index);
}

/* Name and category, and where it is. */
static unsigned char *
begin_slice(
    struct trace_json *json, const struct trace_slice *slice, char phase)
{
	unsigned char *to;

	begin_event(json);
	put_text(json->stream, slice->name);
	put_string(json->stream, ",\"cat\":");
	put_text(json->stream, slice->category);
	to = LITERAL(stream_room(json->stream, 256), ",\"ph\":\"");
	*to++ = (unsigned char)phase;
	return put_micros(LITERAL(to, "\",\"ts\":"), slice->begin_ns);
}

static unsigned char *
put_place(unsigned char *to, const struct trace_slice *slice)
{
	to = put_integer(LITERAL(to, ",\"pid\":"), slice->pid);
	return put_integer(LITERAL(to, ",\"tid\":"), slice->tid);
}

void
trace_json_complete(struct trace_json *json, const struct trace_slice *slice)
{
	struct stream *stream = json->stream;
	unsigned char *to = begin_slice(json, slice, 'X');

	to = put_micros(LITERAL(to, ",\"dur\":"), slice->duration_ns);
	to = LITERAL(put_place(to, slice), ",\"args\":");
	if (slice->pairs.bytes == 0 && slice->colour.bytes == 0) {
		stream_filled(stream, LITERAL(to, "{}}"));
		return;
	}
	stream_filled(stream, to);
	put_pairs(stream, slice->pairs);
	if (slice->colour.bytes > 0) {
		put_string(stream, ",\"cname\":");
		put_text(stream, slice->colour);
	}
	put_string(stream, "}");
}

void
trace_json_instant(struct trace_json *json, const struct trace_slice *slice)
{
	unsigned char *to = begin_slice(json, slice, 'i');

	to = LITERAL(put_place(to, slice), ",\"s\":\"t\",\"args\":");
	stream_filled(json->stream, to);
	put_pairs(json->stream, slice->pairs);
	put_string(json->stream, "}");
}

void
trace_json_counter(struct trace_json *json, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	unsigned char *to;

	if (!isfinite(value))
		return;
	begin_event(json);
	put_text(json->stream, name);
	to = LITERAL(stream_room(json->stream, 128), ",\"ph\":\"C\",\"ts\":");
	to = put_integer(LITERAL(put_micros(to, time_ns), ",\"pid\":"), pid);
	stream_filled(json->stream, LITERAL(to, ",\"args\":{"));
	put_text(json->stream, unit);
	put_string(json->stream, ":");
	put_float(json->stream, value);
	put_string(json->stream, "}}");
}

/* ---- all of it ---- */

void
trace_json_begin(struct trace_json *json, struct stream *stream)
{
	*json = (struct trace_json){ .stream = stream };
	put_string(stream, "[");
}

void
trace_json_begin_object(
    struct trace_json *json, struct stream *stream, struct text pairs)
{
	*json = (struct trace_json){ .stream = stream, .is_object = true };
	put_string(stream, "{\"displayTimeUnit\":\"ns\",\"otherData\":");
	put_pairs(stream, pairs);
	put_string(stream, ",\"traceEvents\":[");
}

void
trace_json_end(struct trace_json *json)
{
	put_string(json->stream, json->is_object ? "\n]}\n" : "\n]\n");
}
