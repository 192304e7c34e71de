/*
 * trace_writer - write the events of a timeline in the chosen format.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/trace_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/base/version.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { ABOUT_BYTES = 2048 };

static void
put_about(struct wire_writer *w, const char *key, const char *value)
{
	wire_put_text_attribute(w, text_of(key), text_of(value));
}

static struct text
make_about(char to[static ABOUT_BYTES], const struct trace_about *about)
{
	struct wire_writer w;
	char text[64];

	wire_writer_init(&w, to, ABOUT_BYTES);
	put_about(&w, "source", "poolscope " VERSION);
	wire_put_text_attribute(&w, text_of("partition"), about->partition);
	if (about->job != NULL)
		put_about(&w, "job", about->job);
	/* A JSON number would lose digits. */
	snprintf(text, sizeof(text), "%" PRId64, about->base_ns);
	put_about(&w, "base_ns", text);
	put_about(&w, "base", clock_text(text, about->base_ns, 9));
	put_about(&w, "end", clock_text(text, about->end_ns, 9));
	if (about->clock != NULL)
		put_about(&w, "clock", about->clock);
	return (struct text){ to, (uint32_t)w.bytes };
}

void
trace_writer_begin(struct trace_writer *sink, enum trace_format format,
    struct byte_stream *byte_stream, const struct trace_about *about)
{
	char text[ABOUT_BYTES];
	struct text pairs = make_about(text, about);

	*sink = (struct trace_writer){ .format = format,
		.byte_stream = byte_stream };
	if (format == TRACE_PROTO)
		sink->proto =
		    perfetto_begin(byte_stream, about->base_ns, pairs);
	else
		chrome_json_begin_object(&sink->json, byte_stream, pairs);
}

uint64_t
trace_writer_end(struct trace_writer *sink)
{
	uint64_t bytes;

	if (sink->proto == NULL) {
		chrome_json_end(&sink->json);
		return trace_writer_bytes(sink);
	}
	bytes = trace_writer_bytes(sink);
	perfetto_end(&sink->proto);
	return bytes;
}

uint64_t
trace_writer_bytes(const struct trace_writer *sink)
{
	return sink->proto != NULL ? perfetto_bytes(sink->proto)
				   : byte_stream_bytes(sink->byte_stream);
}

void
trace_writer_complete(
    struct trace_writer *sink, const struct trace_slice *slice)
{
	if (sink->proto != NULL)
		perfetto_complete(sink->proto, slice);
	else
		chrome_json_complete(&sink->json, slice);
}

void
trace_writer_instant(struct trace_writer *sink, const struct trace_slice *slice)
{
	if (sink->proto != NULL)
		perfetto_instant(sink->proto, slice);
	else
		chrome_json_instant(&sink->json, slice);
}

void
trace_writer_counter(struct trace_writer *sink, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	if (sink->proto != NULL)
		perfetto_counter(sink->proto, pid, name, unit, time_ns, value);
	else
		chrome_json_counter(&sink->json, pid, name,
		    unit.bytes > 0 ? unit : text_of("value"), time_ns, value);
}

void
trace_writer_process(
    struct trace_writer *sink, int64_t pid, struct text name, int64_t position)
{
	if (sink->proto != NULL) {
		perfetto_process(sink->proto, pid, name, position);
		return;
	}
	chrome_json_process_name(&sink->json, pid, name);
	chrome_json_process_sort(&sink->json, pid, position);
}

void
trace_writer_thread(struct trace_writer *sink, int64_t pid, int64_t tid,
    struct text name, int64_t position)
{
	if (sink->proto != NULL) {
		perfetto_thread(sink->proto, pid, tid, name, position);
		return;
	}
	chrome_json_thread_name(&sink->json, pid, tid, name);
	chrome_json_thread_sort(&sink->json, pid, tid, position);
}
