/*
 * trace_writer - write the events of a timeline in the chosen format.
 *
 * Times are nanoseconds from the start of the trace.  The intervals of a
 * thread nest (exporters/trace/timeline/lanes.h) and arrive sorted by begin.
 * The names of processes and threads may follow their events.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_TRACE_WRITER_H
#define EXPORTERS_TRACE_FORMAT_TRACE_WRITER_H

#include "exporters/trace/format/chrome_json.h"
#include "exporters/trace/format/perfetto.h"
#include "exporters/trace/format/trace_output.h"

struct trace_about {
	struct text partition;
	int64_t base_ns;   /* since the epoch: time 0 of the trace */
	const char *job;   /* NULL: all jobs */
	int64_t end_ns;    /* since the epoch; end of the trace, exclusive */
	const char *clock; /* words for the clock of the times; NULL: unknown */
};

struct trace_writer {
	enum trace_format format;
	struct byte_stream *byte_stream;
	struct chrome_json json;
	struct perfetto *proto; /* for TRACE_PROTO */
};

void trace_writer_begin(struct trace_writer *sink, enum trace_format format,
    struct byte_stream *byte_stream, const struct trace_about *about);
/* Returns the total bytes before compression: the size that a viewer has to
 * hold. */
uint64_t trace_writer_end(struct trace_writer *sink);
/* Bytes written so far. */
uint64_t trace_writer_bytes(const struct trace_writer *sink);

void trace_writer_complete(
    struct trace_writer *sink, const struct trace_slice *slice);
void trace_writer_instant(
    struct trace_writer *sink, const struct trace_slice *slice);
/* `name` is unique in its process. */
void trace_writer_counter(struct trace_writer *sink, int64_t pid,
    struct text name, struct text unit, int64_t time_ns, double value);
void trace_writer_process(
    struct trace_writer *sink, int64_t pid, struct text name, int64_t position);
void trace_writer_thread(struct trace_writer *sink, int64_t pid, int64_t tid,
    struct text name, int64_t position);

#endif
