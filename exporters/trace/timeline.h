/*
 * timeline - the whole pool on one timeline.
 *
 * The critical path of the newest start in it, phases (complete or not) with
 * jobs, spans, events, samples: each kind takes one pass over the source, and
 * memory holds only the names of rows and the open intervals.  The store
 * returns phases in the order of their keys; they are sorted before they are
 * drawn, as many at a time as fit a buffer of fixed size.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_H
#define EXPORTERS_TRACE_TIMELINE_H

#include <stdio.h>

#include "exporters/source/source.h"
#include "exporters/trace/trace_writer.h"

/* The options of poolscope-trace, and its kinds of trace. */

struct time_window_options;

/* Of the view "timeline". */
struct timeline_options {
	struct opt_list kinds, metrics;
	const char *nodes;  /* as given */
	uint64_t max_bytes; /* 0: no limit */
	uint32_t worst;     /* of --nodes; 0: all */
	uint32_t kind_bits; /* of --kind */
};

struct trace_request {
	struct source *source;
	struct source_options *source_options;
	const struct time_window_options *window;
	int64_t gap_ns; /* between two starts, as in starts_query */
	struct timeline_options *timeline;
	struct text partition;
	const char *path; /* trace_output_open makes it */
	enum trace_format format;
};

/* --kind, --metric, --nodes, --max-size; bound to struct timeline_options. */
extern const struct opt timeline_options[];

/* What a trace has, and what it has not. */
struct timeline_shown {
	uint32_t nodes, of; /* of: those that were compared; 0: none were */
	int64_t until_ns;  /* what is later is left out; TIME_MAX_NS: nothing */
	uint64_t left_out; /* records without a place on their track */
};

/* Complete the options.  -1: ERR_OPTION; timeline_check exits then. */
int timeline_options_complete(
    struct timeline_options *options, struct err *err);
void timeline_check(const struct trace_request *request);
int timeline_write(const struct trace_request *request, struct err *err);
/* The same bytes, TRACE_JSON or TRACE_PROTO, into an open file.  Prints and
 * logs nothing.  A trace without a record is an error. */
int timeline_write_to(const struct trace_request *request, FILE *file,
    struct timeline_shown *shown, struct err *err);

#endif
