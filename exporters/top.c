/*
 * poolscope-top - show in the terminal what the nodes of a pool do now.
 * poolscope-top(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exporters/question/question.h"
#include "exporters/source/pool.h"
#include "exporters/source/source.h"
#include "exporters/top/screen.h"
#include "exporters/top/session.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/log.h"

enum { FORMAT_TABLE, FORMAT_JSON };
enum { ONCE_RUNS = 20 };

struct values {
	struct pool_options pool;
	struct source_options source;
	const char *model, *page;
	int view, format;
	bool once;
};

static const struct values defaults = { .model = "testrun",
	.page = "http://127.0.0.1:5580/" };

static const struct opt options[] = {
	{ "view", 0, OPT_CHOICE, OPT_TO(struct values, view), "VIEW",
	    "begin with this view (default: nodes, or pools if no pool is "
	    "named)",
	    "nodes|runs|pools|pipeline" },
	{ "model", 0, OPT_TEXT, OPT_TO(struct values, model), "NAME",
	    "show the runs of this model (default: testrun)" },
	{ "page", 0, OPT_TEXT, OPT_TO(struct values, page), "URL",
	    "copy links to the page of poolscope-web at this address (default: "
	    "http://127.0.0.1:5580/)" },
	{ "once", 0, OPT_FLAG, OPT_TO(struct values, once), NULL,
	    "print the view and exit, also when standard output is a "
	    "terminal" },
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "print the view in this format (default: table) and exit",
	    "table|json" },
	{ .name = NULL },
};

static void
parse(struct values *values, int argc, char **argv)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { source_options, &values->source },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-top",
		.synopsis = "[options]",
		.summary = "show what the nodes of a pool do now, in the "
			   "terminal; ? lists the keys",
		.examples = "poolscope top -p 'acct$pool'\n"
			    "poolscope top --view pipeline --once\n",
		.tables = tables,
		.operands_min = 0,
		.operands_max = 0,
	};

	opt_parse(&program, argc, argv, NULL);
}

/* A pool that is the default of this user is no wish to see it alone. */
static bool
names_pool(const struct values *values)
{
	return opt_origin_of(&values->pool.partition) == OPT_COMMAND_LINE ||
	       values->pool.configdir != NULL;
}

static void
choose(struct values *values)
{
	if (opt_origin_of(&values->view) == OPT_DEFAULT && !names_pool(values))
		values->view = VIEW_POOLS;
	if (opt_origin_of(&values->format) == OPT_COMMAND_LINE ||
	    !screen_is_possible())
		values->once = true;
	if (values->model[0] == '\0')
		opt_usage("--model needs NAME");
}

static void
enter_sandbox(const struct values *values)
{
	const char *home = getenv("HOME"), *types = getenv("TERMINFO");
	struct sandbox sandbox;
	char own[4096];

	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &values->source);
	/* Descriptions of terminals that are not the system's. */
	snprintf(own, sizeof(own), "%s/.terminfo", home == NULL ? "" : home);
	if (!values->once && types != NULL && access(types, R_OK) == 0)
		sandbox_read(&sandbox, types);
	if (!values->once && access(own, R_OK) == 0)
		sandbox_read(&sandbox, own);
	sandbox_close(&sandbox, false);
}

/* The same as the commands print.  `source` NULL: it could not be opened, `err`
 * says why: for the pipeline. */
static int
print_once(const struct values *values, struct source *source,
    const char *partition, int *status, struct err *err)
{
	static const struct question *const ask[VIEWS] = {
		[VIEW_NODES] = &question_nodes,
		[VIEW_RUNS] = &question_runs,
		[VIEW_POOLS] = &question_pools,
		[VIEW_PIPELINE] = &question_status,
	};
	struct question_values of = question_values_default();
	struct err silence = *err;
	struct question_asked asked = { .source = source,
		.silent = source == NULL ? silence.text : NULL,
		.options = &values->source,
		.partition = text_of(partition),
		.values = &of,
		.status = status };
	struct output output;

	if (output_open(&output, "-", err) != 0)
		return -1;
	of.answer.format = values->format == FORMAT_JSON ? ANSWER_FORMAT_JSON
							 : ANSWER_FORMAT_TABLE;
	of.answer.width = answer_terminal_width();
	of.runs.model = values->model;
	of.runs.newest = ONCE_RUNS;
	if (question_answer(ask[values->view], &asked, output.file, err) == 0)
		return output_commit(&output, err);
	output_abort(&output);
	return -1;
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	char partition[INSTANCE_PATH_BYTES];
	struct source *source = NULL;
	struct err err = { 0 };
	int rc, status = 0;

	parse(&values, argc, argv);
	choose(&values);
	rc = pool_partition(partition, &values.pool, &err);
	values.source.stays = !values.once;
	enter_sandbox(&values);
	/* That the pipeline does not answer is an answer. */
	if (rc == 0 && source_open(&source, &values.source, &err) != 0 &&
	    !(values.once && values.view == VIEW_PIPELINE))
		rc = -1;
	if (rc == 0 && values.once) {
		rc = print_once(&values, source, partition, &status, &err);
		rc = source_finish(&source, rc, &err);
	} else if (rc == 0) {
		status =
		    session_run(source, &values.source, partition, values.model,
			(enum top_view_number)values.view, values.page, &err);
		rc = status < 0 ? -1 : 0;
	}
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? status : 1;
}
