/*
 * trace_writer - write the events of a timeline in the chosen format, to a file
 * whose name implies it.
 *
 * Times are nanoseconds from the start of the trace.  The intervals of a
 * thread nest (lanes of tracks.h) and arrive sorted by begin.
 * The names of processes and threads may follow their events.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TRACE_WRITER_H
#define EXPORTERS_TRACE_TRACE_WRITER_H

#include <stdint.h>

#include "exporters/trace/chrome_json.h"
#include "exporters/trace/perfetto.h"
#include "proto/format/output.h"
#include "proto/hash/string_table.h"
#include "proto/stream/byte_stream.h"

/* Choose the part of a timeline that fits a size.
 *
 * A pass without output counts the bytes of each node and of each section of
 * a time.  Of the nodes as many fit as possible, in a given order; of one node
 * that is too large the beginning of its time. */
enum { SIZE_LIMIT_SECTIONS = 4096 };

struct size_limit {
	int64_t from_ns, to_ns;
	uint64_t bytes[SIZE_LIMIT_SECTIONS]; /* bytes of the records that begin
						 in each section */
	struct string_table nodes;
	uint64_t *node_bytes; /* by the number of the node, names included */
	uint32_t node_room;
};

/* Begin to count; the sections divide the time from `from_ns` to `to_ns`. */
void size_limit_init(struct size_limit *limit, int64_t from_ns, int64_t to_ns);
void size_limit_clear(struct size_limit *limit);
void size_limit_add(struct size_limit *limit, int64_t time_ns, struct text node,
    uint64_t bytes);
/* Bytes of names: they belong to the node, whatever its time. */
void size_limit_add_name(
    struct size_limit *limit, struct text node, uint64_t bytes);

/* The nodes of `order` that fit: each one that still does, after those before
 * it.  Adds them to `fit`.  `total` is the number of all bytes; those that
 * were not added belong to every trace. */
void size_limit_nodes(const struct size_limit *limit,
    const struct string_table *order, uint64_t total, uint64_t max,
    struct string_table *fit);
/* The end of the time that fits: before the end of the sections and after
 * their start.  If not even the first section fits, the end of that section. */
int64_t size_limit_time(
    const struct size_limit *limit, uint64_t total, uint64_t max);

/*
 * The output file of a trace; its name implies the format.
 *
 *     .trace .json   Chrome's trace format
 *     .json.gz       the same, compressed with gzip
 *     .tar.gz        the same as NAME.trace, the only member of the archive
 *     .pftrace       Perfetto's protocol buffers
 */

/* In the order of poolscope-trace --format. */
enum trace_format { TRACE_JSON, TRACE_JSON_GZIP, TRACE_TAR_GZIP, TRACE_PROTO };

/* The format that a file name implies; JSON for standard output.  -1 and the
 * list of suffixes when there is none. */
int trace_format_of(
    const char *path, enum trace_format *format, struct err *err);

struct trace_output {
	struct output output;
	struct byte_stream byte_stream; /* the stream to write to */
};

int trace_output_open(struct trace_output *output, const char *path,
    enum trace_format format, struct err *err);
/* Both close the output in any case. */
int trace_output_commit(struct trace_output *output, struct err *err);
void trace_output_abort(struct trace_output *output);

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
