/*
 * trace_writer - a timeline's events in whichever format was asked for.
 *
 * Times are nanoseconds from the trace's base; intervals of one thread nest
 * (exporters/trace/timeline/lanes.h) and come by their begin.  Names of
 * processes and threads may come behind their events. SPDX-License-Identifier:
 * MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_TRACE_WRITER_H
#define EXPORTERS_TRACE_FORMAT_TRACE_WRITER_H

#include "exporters/trace/format/chrome_json.h"
#include "exporters/trace/format/perfetto.h"
#include "exporters/trace/format/trace_output.h"

struct trace_about {
	struct text partition;
	int64_t base_ns;   /* since the epoch: 0 in the trace */
	const char *job;   /* NULL: all that happened */
	int64_t end_ns;    /* since the epoch; the trace ends before it */
	const char *clock; /* which one the times are on; NULL: not said */
};

struct trace_writer {
	enum trace_format format;
	struct byte_stream *byte_stream;
	struct chrome_json json;
	struct perfetto *proto; /* with TRACE_PROTO */
};

void trace_writer_begin(struct trace_writer *sink, enum trace_format format,
    struct byte_stream *byte_stream, const struct trace_about *about);
/* Returns the bytes of all of it, before compression: what a viewer has to
 * hold. */
uint64_t trace_writer_end(struct trace_writer *sink);
/* So far. */
uint64_t trace_writer_bytes(const struct trace_writer *sink);

void trace_writer_complete(
    struct trace_writer *sink, const struct trace_slice *slice);
void trace_writer_instant(
    struct trace_writer *sink, const struct trace_slice *slice);
/* `name` is unique in its process. */
void trace_writer_counter(struct trace_writer *sink, int64_t pid,
    struct text name, struct text unit, int64_t time_ns, double value);
void trace_writer_process(
    struct trace_writer *sink, int64_t pid, struct text name, int64_t place);
void trace_writer_thread(struct trace_writer *sink, int64_t pid, int64_t tid,
    struct text name, int64_t place);

#endif
