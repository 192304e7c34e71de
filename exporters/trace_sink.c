/*
 * trace_sink - a timeline's events in whichever format was asked for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace_sink.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/clock.h"
#include "proto/wire.h"

enum { ABOUT_BYTES = 2048, COUNTER_NAME_BYTES = 2 * NAME_BYTES_MAX + 16 };

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
	/* More digits than a JSON number keeps. */
	snprintf(text, sizeof(text), "%" PRId64, about->base_ns);
	put_about(&w, "base_ns", text);
	put_about(&w, "base", clock_text(text, about->base_ns, 9));
	put_about(&w, "end", clock_text(text, about->end_ns, 9));
	return (struct text){ to, (uint32_t)w.bytes };
}

void
sink_begin(struct trace_sink *sink, enum trace_format format,
    struct stream *stream, const struct trace_about *about)
{
	char text[ABOUT_BYTES];

	*sink = (struct trace_sink){ .format = format, .stream = stream };
	trace_json_begin_object(&sink->json, stream, make_about(text, about));
}

void
sink_end(struct trace_sink *sink)
{
	trace_json_end(&sink->json);
}

void
sink_complete(struct trace_sink *sink, const struct trace_slice *slice)
{
	trace_json_complete(&sink->json, slice);
}

void
sink_instant(struct trace_sink *sink, const struct trace_slice *slice)
{
	trace_json_instant(&sink->json, slice);
}

void
sink_counter(struct trace_sink *sink, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	char text[COUNTER_NAME_BYTES];
	int n = snprintf(text, sizeof(text), "%.*s (%.*s)", (int)name.bytes,
	    name.at, (int)unit.bytes, unit.at);

	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	trace_json_counter(&sink->json, pid,
	    unit.bytes > 0 ? (struct text){ text, (uint32_t)n } : name, time_ns,
	    value);
}

void
sink_process(
    struct trace_sink *sink, int64_t pid, struct text name, int64_t place)
{
	trace_json_process_name(&sink->json, pid, name);
	trace_json_process_sort(&sink->json, pid, place);
}

void
sink_thread(struct trace_sink *sink, int64_t pid, int64_t tid, struct text name,
    int64_t place)
{
	trace_json_thread_name(&sink->json, pid, tid, name);
	trace_json_thread_sort(&sink->json, pid, tid, place);
}
