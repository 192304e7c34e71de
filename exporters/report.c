/*
 * poolscope-report - write what is known of a pool into one file.
 * poolscope-report(1).
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/report/anonymise.h"
#include "exporters/source/known.h"
#include "exporters/source/select_options.h"
#include "exporters/tool/tool.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { FORMAT_HTML, FORMAT_MD, FORMAT_TEXT };

struct values {
	struct pool_options pool;
	struct source_options source;
	const char *output;
	struct starts_options starts;
	int64_t from_ns, to_ns;
	int format;
	bool with_trace, anonymise;
	const char *nodes;
};

static const struct values defaults = { .starts = STARTS_DEFAULT,
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
	.nodes = "worst:8" };

static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "FILE",
	    "write the report to FILE; - is standard output",
	    .flags = OPT_REQUIRED },
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "html (default): a page that needs no server; md, text: the "
	    "findings for a ticket",
	    "html|md|text" },
	{ "with-trace", 0, OPT_FLAG, OPT_TO(struct values, with_trace), NULL,
	    "put a trace for Perfetto into the page, to be saved from it" },
	{ "nodes", 0, OPT_TEXT, OPT_TO(struct values, nodes), "all|worst:K",
	    "with --with-trace: all nodes, or the K with the longest phases "
	    "(default: worst:8)" },
	{ "anonymise", 0, OPT_FLAG, OPT_TO(struct values, anonymise), NULL,
	    "number nodes, runs, groups, images, users, account and pool "
	    "instead of naming them" },
	TIME_OPTIONS(
	    struct values, from_ns, to_ns, "report only what happened"),
	{ .name = NULL },
};

static void
parse(struct values *values, int argc, char **argv)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { starts_options, &values->starts },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-report",
		.synopsis = "[options] -o FILE",
		.summary = "write what is known of a pool into one file",
		.examples =
		    "poolscope report -p 'acct$pool' -o report.html\n"
		    "poolscope report -p 'acct$pool' --format md -o -\n",
		.tables = tables,
	};
	struct opt_operands operands;

	opt_parse(&program, argc, argv, &operands);
	if (values->output == NULL)
		opt_usage("-o FILE is missing: the file to write");
	time_options_check(values->from_ns, values->to_ns);
	starts_options_check(&values->starts, values->from_ns, values->to_ns);
	if (values->with_trace && values->format != FORMAT_HTML)
		opt_usage("--with-trace is for --format html");
}

static int
write_html(FILE *file, const struct values *values,
    const struct report_request *request, struct err *err)
{
	struct report_answers answers;
	struct report_trace trace = { NULL, 0 };
	int rc = report_answers_read(&answers, request, err);

	if (rc == 0 && values->with_trace)
		rc = report_trace_read(&trace, request, values->nodes, err);
	/* A pool of results alone has nothing on a timeline. */
	if (rc != 0 && values->with_trace && trace.at == NULL &&
	    !source_has_failed(request->source) && answers.count > 0) {
		log_warn("without a trace: %s", err->text);
		rc = 0;
	}
	if (rc == 0)
		rc = report_page_write(
		    file, &answers, &trace, request->partition, err);
	if (rc == 0 && answers.left_out != NULL)
		log_info("left out: %s", answers.left_out);
	report_trace_clear(&trace);
	report_answers_clear(&answers);
	return rc;
}

static int
write_report(void *arg, struct tool_open *open, struct err *err)
{
	const struct values *values = arg;
	struct report_request request = { .source = open->source,
		.options = &values->source,
		.partition = open->partition,
		.starts = values->starts,
		.from_ns = values->from_ns,
		.to_ns = values->to_ns,
		.is_anonymous = values->anonymise };
	struct report_names *names = NULL;
	int rc = known_check_partition(open->source, open->partition, 0, err);

	/* Of the answers that take no start, too. */
	if (rc == 0)
		rc = starts_choose(&open->start, open->source, open->partition,
		    &values->starts, NULL, false, &request.from_ns,
		    &request.to_ns, err);
	if (rc == 0 && values->anonymise) {
		rc = report_names_open(
		    &names, open->source, open->partition, err);
		request.partition = report_names_partition(names);
	}
	if (rc == 0)
		rc = values->format == FORMAT_HTML
			 ? write_html(open->file, values, &request, err)
			 : report_text_write(open->file, &request,
			       values->format == FORMAT_MD, err);
	source_renew(open->source);
	source_set_rename(open->source, NULL);
	report_names_close(&names);
	return rc;
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct sandbox sandbox;

	parse(&values, argc, argv);
	sandbox_begin(&sandbox);
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .source = &values.source,
	    .output = values.output,
	    .sandbox = &sandbox,
	    .work = write_report,
	    .arg = &values });
}
