/*
 * poolscope-trace - write a pool's timeline for a trace viewer.
 * poolscope-trace(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/samples/time_window.h"
#include "exporters/scanner/trace_command.h"
#include "exporters/tool/tool.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/file_io.h"

struct values {
	struct pool_options pool;
	struct source_options source;
	struct time_window_options window;
	struct timeline_options timeline;
	struct starts_options starts;
	const char *output;
	int format;
	const struct view *view;
	struct trace_request request;
};

static const struct values defaults = { .window = TIME_WINDOW_ALL,
	.starts = STARTS_DEFAULT };

/* Follows the values of enum trace_format: the format that the name implies. */
enum { BY_NAME = 0 };

static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "FILE",
	    "write the trace to FILE; its suffix chooses the format: .trace or "
	    ".json, .json.gz, .tar.gz, .pftrace",
	    .flags = OPT_REQUIRED },
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "set the format, whatever the suffix (standard output: json)",
	    "name|json|json.gz|tar.gz|pftrace" },
	{ .name = NULL },
};

/* The kinds of trace; the first one is the default. */
static const struct view {
	const char *name;
	int (*write)(const struct trace_request *request, struct err *err);
	/* Exits on a usage error; NULL: no such kind. */
	void (*check)(const struct trace_request *request);
} views[] = {
	{ "timeline", timeline_write, timeline_check },
	{ "scanner", scanner_trace_write, scanner_trace_check },
};

static const struct view *
find_view(const struct opt_operands *operands)
{
	if (operands->count == 0)
		return &views[0];
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (strcmp(operands->at[0], views[i].name) == 0)
			return &views[i];
	opt_refuse_word(operands->at[0], "timeline, scanner");
}

static int
write_trace(void *arg, struct tool_open *open, struct err *err)
{
	struct values *values = arg;

	values->request.source = open->source;
	values->request.partition = open->partition;
	values->request.gap_ns = values->starts.gap_ns;
	return values->view->write(&values->request, err);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { time_window_options, &values->window },
		{ timeline_options, &values->timeline },
		{ starts_options, &values->starts },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-trace",
		.synopsis = "[options] -o FILE [timeline|scanner]",
		.summary = "write the activity of a pool as a timeline for "
			   "Perfetto or Chrome",
		.examples =
		    "poolscope trace -p 'acct$pool' -o pool.pftrace\n"
		    "poolscope trace --job 4711 --from -1h -o job.json.gz\n",
		.tables = tables,
		.operands_min = 0,
		.operands_max = 1,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct trace_request *request = &values.request;
	struct opt_operands operands;
	struct sandbox sandbox;
	struct err err = { 0 };

	parse(&values, argc, argv, &operands);
	values.view = find_view(&operands);
	*request = (struct trace_request){ .source_options = &values.source,
		.window = &values.window,
		.timeline = &values.timeline,
		.path = values.output };
	if (values.format != BY_NAME)
		request->format = (enum trace_format)(values.format - 1);
	else if (trace_format_of(values.output, &request->format, &err) != 0)
		opt_usage("%s", err.text);
	if (values.view->check != NULL)
		values.view->check(request);
	/* The request opens the output; it may need room for spans that do not
	 * fit into memory. */
	sandbox_begin(&sandbox);
	output_sandbox(&sandbox, values.output);
	sandbox_write(&sandbox, file_io_temporary_dir());
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .source = &values.source,
	    .sandbox = &sandbox,
	    .window = &values.window,
	    .starts = &values.starts,
	    .work = write_trace,
	    .arg = &values });
}
