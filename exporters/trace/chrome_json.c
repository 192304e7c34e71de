/*
 * chrome_json - write events in Chrome's trace format as they arrive.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/chrome_json.h"

#include <assert.h>
#include <math.h>

#include "proto/base/number.h"
#include "proto/json/json_bytes.h"
#include "proto/record/record.h"

#define NS_PER_MICRO 1000

/* ---- pieces ---- */

/* Nanoseconds as microseconds. */
static unsigned char *
put_micros(unsigned char *to, int64_t ns)
{
	return json_put_decimal(to, ns, NS_PER_MICRO);
}

/* JSON has no NaN and no infinity: write null. */
static void
put_float(struct byte_stream *byte_stream, double value)
{
	char text[NUMBER_BYTES];

	if (isfinite(value))
		byte_stream_put(byte_stream, text, number_repr(text, value));
	else
		byte_stream_put(byte_stream, "null", 4);
}

static void
put_value(struct byte_stream *byte_stream, const struct value *value)
{
	unsigned char *to = byte_stream_room(byte_stream, JSON_INTEGER_BYTES);

	switch (value->type) {
	case VALUE_NIL: to = JSON_PUT(to, "null"); break;
	case VALUE_BOOL:
		to = value->is.boolean ? JSON_PUT(to, "true")
				       : JSON_PUT(to, "false");
		break;
	case VALUE_INT: to = json_put_integer(to, value->is.i); break;
	case VALUE_UINT: to = json_put_digits(to, value->is.u); break;
	case VALUE_FLOAT: put_float(byte_stream, value->is.f); return;
	case VALUE_TEXT: json_put_text(byte_stream, value->is.text); return;
	}
	byte_stream_filled(byte_stream, to);
}

static void
put_string(struct byte_stream *byte_stream, const char *string)
{
	byte_stream_put(byte_stream, string, strlen(string));
}

static void
put_pairs(struct byte_stream *byte_stream, struct text pairs)
{
	const char *before = "{";
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a)) {
		put_string(byte_stream, before);
		json_put_text(byte_stream, a.key);
		put_string(byte_stream, ":");
		put_value(byte_stream, &a.value);
		before = ",";
	}
	put_string(byte_stream, *before == '{' ? "{}" : "}");
}

/* ---- events ---- */

static void
begin_event(struct chrome_json *json)
{
	put_string(json->byte_stream,
	    json->has_events ? ",\n{\"name\":" : "\n{\"name\":");
	json->has_events = true;
}

static void
begin_metadata(
    struct chrome_json *json, const char *what, int64_t pid, const int64_t *tid)
{
	unsigned char *to;

	begin_event(json);
	json_put_text(json->byte_stream, text_of(what));
	to = JSON_PUT(
	    byte_stream_room(json->byte_stream, 128), ",\"ph\":\"M\",\"pid\":");
	to = json_put_integer(to, pid);
	if (tid != NULL)
		to = json_put_integer(JSON_PUT(to, ",\"tid\":"), *tid);
	byte_stream_filled(json->byte_stream, JSON_PUT(to, ",\"args\":"));
}

static void
put_name(struct chrome_json *json, const char *what, int64_t pid,
    const int64_t *tid, struct text name)
{
	begin_metadata(json, what, pid, tid);
	put_string(json->byte_stream, "{\"name\":");
	json_put_text(json->byte_stream, name);
	put_string(json->byte_stream, "}}");
}

static void
put_sort(struct chrome_json *json, const char *what, int64_t pid,
    const int64_t *tid, int64_t sort_index)
{
	unsigned char *to;

	begin_metadata(json, what, pid, tid);
	to = JSON_PUT(
	    byte_stream_room(json->byte_stream, 64), "{\"sort_index\":");
	byte_stream_filled(json->byte_stream,
	    JSON_PUT(json_put_integer(to, sort_index), "}}"));
}

void
chrome_json_process_name(
    struct chrome_json *json, int64_t pid, struct text name)
{
	put_name(json, "process_name", pid, NULL, name);
}

void
chrome_json_process_sort(
    struct chrome_json *json, int64_t pid, int64_t sort_index)
{
	put_sort(json, "process_sort_index", pid, NULL, sort_index);
}

void
chrome_json_thread_name(
    struct chrome_json *json, int64_t pid, int64_t tid, struct text name)
{
	put_name(json, "thread_name", pid, &tid, name);
}

void
chrome_json_thread_sort(
    struct chrome_json *json, int64_t pid, int64_t tid, int64_t sort_index)
{
	put_sort(json, "thread_sort_index", pid, &tid, sort_index);
}

/* Name, category, time, process and thread. */
static unsigned char *
begin_slice(
    struct chrome_json *json, const struct trace_slice *slice, char phase)
{
	unsigned char *to;

	begin_event(json);
	json_put_text(json->byte_stream, slice->name);
	put_string(json->byte_stream, ",\"cat\":");
	json_put_text(json->byte_stream, slice->category);
	to = JSON_PUT(byte_stream_room(json->byte_stream, 256), ",\"ph\":\"");
	*to++ = (unsigned char)phase;
	return put_micros(JSON_PUT(to, "\",\"ts\":"), slice->begin_ns);
}

static unsigned char *
put_thread(unsigned char *to, const struct trace_slice *slice)
{
	to = json_put_integer(JSON_PUT(to, ",\"pid\":"), slice->pid);
	return json_put_integer(JSON_PUT(to, ",\"tid\":"), slice->tid);
}

void
chrome_json_complete(struct chrome_json *json, const struct trace_slice *slice)
{
	struct byte_stream *byte_stream = json->byte_stream;
	unsigned char *to = begin_slice(json, slice, 'X');

	to = put_micros(JSON_PUT(to, ",\"dur\":"), slice->duration_ns);
	to = JSON_PUT(put_thread(to, slice), ",\"args\":");
	if (slice->pairs.bytes == 0 && slice->colour.bytes == 0) {
		byte_stream_filled(byte_stream, JSON_PUT(to, "{}}"));
		return;
	}
	byte_stream_filled(byte_stream, to);
	put_pairs(byte_stream, slice->pairs);
	if (slice->colour.bytes > 0) {
		put_string(byte_stream, ",\"cname\":");
		json_put_text(byte_stream, slice->colour);
	}
	put_string(byte_stream, "}");
}

void
chrome_json_instant(struct chrome_json *json, const struct trace_slice *slice)
{
	unsigned char *to = begin_slice(json, slice, 'i');

	to = JSON_PUT(put_thread(to, slice), ",\"s\":\"t\",\"args\":");
	byte_stream_filled(json->byte_stream, to);
	put_pairs(json->byte_stream, slice->pairs);
	put_string(json->byte_stream, "}");
}

void
chrome_json_counter(struct chrome_json *json, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	unsigned char *to;

	if (!isfinite(value))
		return;
	begin_event(json);
	json_put_text(json->byte_stream, name);
	to = JSON_PUT(
	    byte_stream_room(json->byte_stream, 128), ",\"ph\":\"C\",\"ts\":");
	to = json_put_integer(
	    JSON_PUT(put_micros(to, time_ns), ",\"pid\":"), pid);
	byte_stream_filled(json->byte_stream, JSON_PUT(to, ",\"args\":{"));
	json_put_text(json->byte_stream, unit);
	put_string(json->byte_stream, ":");
	put_float(json->byte_stream, value);
	put_string(json->byte_stream, "}}");
}

/* ---- the file ---- */

void
chrome_json_begin(struct chrome_json *json, struct byte_stream *byte_stream)
{
	*json = (struct chrome_json){ .byte_stream = byte_stream };
	put_string(byte_stream, "[");
}

void
chrome_json_begin_object(struct chrome_json *json,
    struct byte_stream *byte_stream, struct text pairs)
{
	*json = (struct chrome_json){ .byte_stream = byte_stream,
		.is_object = true };
	put_string(byte_stream, "{\"displayTimeUnit\":\"ns\",\"otherData\":");
	put_pairs(byte_stream, pairs);
	put_string(byte_stream, ",\"traceEvents\":[");
}

void
chrome_json_end(struct chrome_json *json)
{
	put_string(json->byte_stream, json->is_object ? "\n]}\n" : "\n]\n");
}
