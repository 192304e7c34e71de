/*
 * trace_output - the output file of a trace; its name implies the format.
 *
 *     .trace .json   Chrome's trace format
 *     .json.gz       the same, compressed with gzip
 *     .tar.gz        the same as NAME.trace, the only member of the archive
 *     .pftrace       Perfetto's protocol buffers
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_TRACE_OUTPUT_H
#define EXPORTERS_TRACE_FORMAT_TRACE_OUTPUT_H

#include "proto/stream/byte_stream.h"
#include "proto/format/output.h"

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

#endif
