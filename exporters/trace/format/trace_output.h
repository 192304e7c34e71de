/*
 * trace_output - the file of a trace: its format, by its name.
 *
 *     .trace .json   Chrome's trace format
 *     .json.gz       the same through gzip
 *     .tar.gz        the same as NAME.trace, the only member of the archive
 *     .pftrace       Perfetto's protocol buffers
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_TRACE_OUTPUT_H
#define EXPORTERS_TRACE_FORMAT_TRACE_OUTPUT_H

#include "proto/format/byte_stream.h"
#include "proto/format/output.h"

/* In the order of poolscope-trace --format. */
enum trace_format { TRACE_JSON, TRACE_JSON_GZIP, TRACE_TAR_GZIP, TRACE_PROTO };

/* Of standard output it is JSON.  -1 and which names there are when it is none
 * of them. */
int trace_format_of(
    const char *path, enum trace_format *format, struct err *err);

struct trace_output {
	struct output output;
	struct byte_stream byte_stream; /* write here */
};

int trace_output_open(struct trace_output *output, const char *path,
    enum trace_format format, struct err *err);
/* Both end the output in any case. */
int trace_output_commit(struct trace_output *output, struct err *err);
void trace_output_abort(struct trace_output *output);

#endif
