/*
 * trace - the options of poolscope-trace, and its kinds of trace.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TRACE_H
#define EXPORTERS_TRACE_TRACE_H

#include "exporters/source/source.h"
#include "exporters/trace/format/trace_output.h"

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
	struct timeline_options *timeline;
	struct text partition;
	const char *path; /* trace_output_open makes it */
	enum trace_format format;
};

#endif
