/*
 * poolscope-trace - write a pool's timeline for a trace viewer.
 * poolscope-trace(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/trace.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/samples/time_window.h"
#include "exporters/select/known.h"
#include "exporters/select/time_option.h"
#include "exporters/source/pool.h"
#include "exporters/starts/starts.h"
#include "exporters/trace/scanner/trace_command.h"
#include "exporters/trace/timeline/timeline.h"
#include "proto/config/opt.h"
#include "proto/os/file_io.h"
#include "proto/os/log.h"

struct values {
	struct pool_options pool;
	struct source_options source;
	struct time_window_options window;
	struct timeline_options timeline;
	struct starts_options starts;
	const char *output;
	int format;
};

static const struct values defaults = { .window = TIME_WINDOW_ALL,
	.starts = STARTS_DEFAULT };

/* Follows the values of enum trace_format: the format that the name implies. */
enum { BY_NAME = 0 };

static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "FILE",
	    "write the trace to FILE; its suffix chooses the format: .trace or "
	    ".json, .json.gz, .tar.gz, .pftrace",
	    NULL, true },
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "set the format, whatever the suffix (standard output: json)",
	    "name|json|json.gz|tar.gz|pftrace", false },
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

static void
enter_sandbox(const struct values *values)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &values->source);
	output_sandbox(&sandbox, values->output);
	/* For spans that do not fit into memory. */
	sandbox_write(&sandbox, file_io_temporary_dir());
	sandbox_close(&sandbox, false);
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
	char partition[INSTANCE_PATH_BYTES];
	struct trace_request request = { .source_options = &values.source,
		.window = &values.window,
		.timeline = &values.timeline };
	struct opt_operands operands;
	const struct view *view;
	struct err err = { 0 };
	int rc;

	parse(&values, argc, argv, &operands);
	view = find_view(&operands);
	request.path = values.output;
	node_option_check(&values.window.node);
	time_options_check(values.window.from_ns, values.window.to_ns);
	starts_options_check(
	    &values.starts, values.window.from_ns, values.window.to_ns);
	if (values.format != BY_NAME)
		request.format = (enum trace_format)(values.format - 1);
	else if (trace_format_of(values.output, &request.format, &err) != 0)
		opt_usage("%s", err.text);
	if (view->check != NULL)
		view->check(&request);
	rc = pool_partition(partition, &values.pool, &err);
	request.partition = text_of(partition);
	enter_sandbox(&values);
	if (rc == 0)
		rc = source_open(&request.source, &values.source, &err);
	if (rc == 0)
		rc = known_check_nodes(request.source, request.partition,
		    text_of(values.window.node.list), &err);
	if (rc == 0)
		rc = starts_find_window(request.source, request.partition,
		    &values.starts, NULL, &values.window.from_ns,
		    &values.window.to_ns, &err);
	if (rc == 0)
		rc = view->write(&request, &err);
	if (request.source != NULL)
		rc = known_check_partition(
		    request.source, request.partition, rc, &err);
	rc = source_finish(&request.source, rc, &err);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? 0 : 1;
}
