/*
 * poolscope-plot - draw pictures of a pool.  poolscope-plot(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/plot.h"
#include "exporters/plot/look.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/phases/plot/command.h"
#include "exporters/question/question.h"
#include "exporters/results/plot.h"
#include "exporters/runs/plot_command.h"
#include "exporters/runs/runs.h"
#include "exporters/samples/plot_command.h"
#include "exporters/samples/time_window.h"
#include "exporters/tool/tool.h"
#include "exporters/samples/usage_plot.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"

enum view {
	VIEW_PHASES,
	VIEW_REFERENCE,
	VIEW_PAGES,
	VIEW_BREAKDOWN,
	VIEW_DISTRIBUTION,
	VIEW_DAYS,
	VIEW_ERRORS,
	VIEW_ALL
};

struct values {
	struct pool_options pool;
	struct source_options source;
	struct time_window_options window, given; /* given: as it was typed */
	struct plot_cascade_options cascade;
	struct metric_options samples;
	struct runs_options runs;
	struct starts_options starts;
	struct plot_testrun_options testrun;
	const char *output; /* NULL: not given */
	int view, terminal;
	bool png;
	struct plot_results results;    /* arguments of "results" */
	char start[STARTS_WORDS_BYTES]; /* what is shown; empty: all */
	bool is_start;
	const struct command *command;
};

static const struct values defaults = { .window = TIME_WINDOW_ALL,
	.runs = RUNS_DEFAULT,
	.starts = STARTS_DEFAULT,
	.testrun = PLOT_TESTRUN_ALL,
	.output = ".",
	.png = true };

enum { OUTPUT_ROW = 0, VIEW_ROW = 2 };
static const struct opt options[] = {
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "DIR",
	    "write the files to this directory (default: .)" },
	{ "term", 0, OPT_CHOICE, OPT_TO(struct values, terminal), "TERM",
	    "draw in this format (default: png); dumb (characters) and sixel "
	    "go to standard output",
	    "png|svg|dumb|sixel|pdf" },
	{ "view", 0, OPT_CHOICE, OPT_TO(struct values, view), "VIEW",
	    "choose the picture; cascade: phases (default), distribution, "
	    "reference, all; phases: phases (default), breakdown, "
	    "distribution, all; testrun: pages (default), distribution, days, "
	    "errors, all",
	    "phases|reference|pages|breakdown|distribution|days|errors|all" },
	{ "png", 0, OPT_FLAG, OPT_TO(struct values, png), NULL,
	    "draw pictures; --no-png writes only tables and scripts" },
	{ .name = NULL },
};

#define POOL                                                                   \
	"partition configdir credentials config-json pool output term style "  \
	"size title png "

static const struct opt_topic topics[] = {
	{ "cascade", "", "the startup of a pool's nodes",
	    POOL "view numbers strict start gap from to",
	    "poolscope plot cascade -p 'acct$pool' -o pictures\n"
	    "poolscope plot cascade --view phases --term dumb\n" },
	{ "phases", "", "the phases of any model, node by node",
	    POOL "view model node job user start gap from to",
	    "poolscope plot phases --model job -o pictures\n"
	    "poolscope plot phases --view distribution --term dumb\n" },
	{ "samples", "", "metrics of nodes over time",
	    POOL "metric metric-group node job user from to step",
	    "poolscope plot samples -m system.cpu.time.user -o pictures\n"
	    "poolscope plot samples -m 'system.memory.*' --from -1h\n" },
	{ "usage", "", "what nodes used of processors, memory and disks",
	    POOL "node job user from to step",
	    "poolscope plot usage --from -1d -o pictures\n"
	    "poolscope plot usage --job 4711 --term dumb\n" },
	{ "testrun", "", "test runs of a farm",
	    POOL "view model time group pages series from to",
	    "poolscope plot testrun -p 'acct$farm' -o pictures\n"
	    "poolscope plot testrun --view errors\n" },
	{ "results", " TEST [ENTRY]", "timings of a benchmark over time",
	    POOL "from to",
	    "poolscope plot results //bench:test -o pictures\n"
	    "poolscope plot results //bench:test BM_0 --term dumb\n" },
	{ .word = NULL },
};

/* The output options; each command sets the contents. */
static struct picture
picture_of_options(const struct values *values)
{
	return (struct picture){
		.dir = values->output,
		.terminal = (enum gnuplot_terminal)values->terminal,
		.drawn = values->png,
	};
}

static bool
has_view(const struct values *values, enum view view)
{
	return values->view == VIEW_ALL || values->view == (int)view;
}

/* The answer of poolscope-stats cascade, next to the pictures. */
static int
write_numbers(const struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	struct question_values asks = question_values_default();
	struct question_asked asked = { .source = source,
		.options = &values->source,
		.partition = partition,
		.values = &asks };
	char base[INSTANCE_PATH_BYTES];
	struct output output;

	asks.window = values->given;
	asks.starts = values->starts;
	asks.answer.format = ANSWER_FORMAT_JSON;
	if (output_open_in(&output, values->output, pool_base(base, partition),
		".json", err) != 0)
		return -1;
	if (question_answer(&question_cascade, &asked, output.file, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return output_commit_logged(&output, "", err);
}

static int
plot_cascade_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	const struct picture picture = picture_of_options(values);
	int rc;

	rc = plot_cascade(source, partition,
	    &(struct cascade_window){ values->window.from_ns,
		values->window.to_ns, values->is_start, values->start },
	    &values->cascade,
	    &(struct plot_cascade_views){
		.reference = has_view(values, VIEW_REFERENCE),
		.phases = has_view(values, VIEW_PHASES),
		.distribution = has_view(values, VIEW_DISTRIBUTION) },
	    &picture, err);
	return rc == 0 && values->cascade.numbers
		   ? write_numbers(values, source, partition, err)
		   : rc;
}

static int
plot_phases_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	const struct picture picture = picture_of_options(values);
	struct job_intervals jobs;
	int rc = 0;

	if (job_options_given(&values->window.jobs)) {
		rc = job_intervals_read(
		    &jobs, source, partition, &values->window.jobs, err);
		if (rc == 0)
			job_intervals_limit(&jobs, source);
	}
	if (rc == 0)
		rc = plot_phases(source, partition,
		    &(struct plot_phases){
			.model = runs_option_is_given(RUNS_MODEL)
				     ? values->runs.model
				     : NULL,
			.node = values->window.node.list,
			.from_ns = values->window.from_ns,
			.to_ns = values->window.to_ns,
			.gap_ns = values->starts.gap_ns,
			.start = values->start,
			.jobs = job_options_given(&values->window.jobs) ? &jobs
									: NULL,
			.timeline = has_view(values, VIEW_PHASES),
			.breakdown = has_view(values, VIEW_BREAKDOWN),
			.distribution = has_view(values, VIEW_DISTRIBUTION) },
		    &picture, err);
	if (job_options_given(&values->window.jobs)) {
		job_intervals_limit(NULL, source);
		job_intervals_clear(&jobs);
	}
	return rc;
}

static int
plot_samples_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	const struct picture picture = picture_of_options(values);

	return plot_samples(source, partition, &values->samples,
	    &values->window, &picture, err);
}

static int
plot_usage_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	const struct picture picture = picture_of_options(values);

	return plot_usage(source, partition, &values->window, &picture, err);
}

static int
plot_testrun_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	static const enum runs_view views[] = {
		[VIEW_PAGES] = RUNS_VIEW_PAGES,
		[VIEW_DISTRIBUTION] = RUNS_VIEW_DISTRIBUTION,
		[VIEW_DAYS] = RUNS_VIEW_DAYS,
		[VIEW_ERRORS] = RUNS_VIEW_ERRORS,
		[VIEW_ALL] = RUNS_VIEW_ALL,
	};
	const struct picture picture = picture_of_options(values);
	bool drawn = values->output != NULL ||
		     gnuplot_is_stdout((enum gnuplot_terminal)values->terminal);

	return plot_testrun(source, partition,
	    &(struct plot_testrun_how){ .options = &values->testrun,
		.runs = &values->runs,
		.view = drawn ? views[values->view] : RUNS_VIEW_NONE,
		.picture = &picture },
	    err);
}

static int
plot_results_of(struct values *values, struct source *source,
    struct text partition, struct err *err)
{
	const struct picture picture = picture_of_options(values);

	values->results.from_ns = values->window.from_ns;
	values->results.to_ns = values->window.to_ns;
	return plot_results(source, partition, &values->results, &picture, err);
}

enum { PHASES_VIEWS = 1u << VIEW_PHASES | 1u << VIEW_DISTRIBUTION };

static const struct command {
	const char *name;
	int (*plot)(struct values *, struct source *, struct text partition,
	    struct err *);
	unsigned views; /* bits; 0: there is one picture */
	enum view first;
} commands[] = {
	{ "cascade", plot_cascade_of, PHASES_VIEWS | 1u << VIEW_REFERENCE,
	    VIEW_PHASES },
	{ "phases", plot_phases_of, PHASES_VIEWS | 1u << VIEW_BREAKDOWN,
	    VIEW_PHASES },
	{ "samples", plot_samples_of, 0, VIEW_PHASES },
	{ "usage", plot_usage_of, 0, VIEW_PHASES },
	{ "testrun", plot_testrun_of,
	    1u << VIEW_PAGES | 1u << VIEW_DISTRIBUTION | 1u << VIEW_DAYS |
		1u << VIEW_ERRORS,
	    VIEW_PAGES },
	{ "results", plot_results_of, 0, VIEW_PHASES },
	{ NULL, NULL, 0, VIEW_PHASES },
};

static const struct command *
find_command(const char *name)
{
	for (const struct command *what = commands; what->name != NULL; what++)
		if (strcmp(what->name, name) == 0)
			return what;
	return NULL; /* opt_parse has checked it */
}

static bool
is_given(const struct opt *o)
{
	return opt_origin(o) == OPT_COMMAND_LINE;
}

static void
check_view(struct values *values, const struct command *command)
{
	/* The one from the environment is meant for another command. */
	if (opt_origin(&options[VIEW_ROW]) == OPT_DEFAULT)
		values->view = (int)command->first;
	if (command->views == 0 || values->view == VIEW_ALL ||
	    (command->views >> values->view & 1) != 0)
		return;
	if (is_given(&options[VIEW_ROW]))
		opt_usage("--view: %s has no such picture", command->name);
	values->view = (int)command->first;
}

/* A terminal picture, and --no-png, do not imply files. */
static void
check_output(struct values *values, bool testrun)
{
	if (values->output[0] == '\0')
		opt_usage("--output needs DIR");
	if (opt_origin(&options[OUTPUT_ROW]) != OPT_DEFAULT || !values->png ||
	    values->cascade.numbers)
		return;
	if (gnuplot_is_stdout((enum gnuplot_terminal)values->terminal) ||
	    (testrun && values->testrun.series != NULL &&
		!is_given(&options[VIEW_ROW])))
		values->output = NULL;
}

/* The arguments of "results": a test, and one of its entries. */
static void
check_operands(struct values *values, const struct opt_operands *operands)
{
	uint32_t count = operands->count;

	if (count == 1)
		return;
	values->results.test = text_of(operands->at[1]);
	values->results.entry = text_of(count > 2 ? operands->at[2] : "");
	if (values->results.test.bytes == 0 ||
	    (count > 2 && values->results.entry.bytes == 0))
		opt_usage("a test or entry name is empty");
}

static void
check_use(struct values *values, const struct command *command)
{
	bool testrun = command->plot == plot_testrun_of;

	gnuplot_look_check(values->terminal == GNUPLOT_DUMB);
	check_output(values, testrun);
	check_view(values, command);
	if (command->plot == plot_samples_of)
		plot_samples_check(&values->samples);
	if (testrun) {
		values->runs.from_ns = values->window.from_ns;
		values->runs.to_ns = values->window.to_ns;
		plot_testrun_check(&values->testrun, &values->runs);
	}
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { gnuplot_look_options, NULL },
		{ plot_cascade_options, &values->cascade },
		{ metric_options, &values->samples },
		{ runs_options, &values->runs },
		{ starts_options, &values->starts },
		{ plot_testrun_options, &values->testrun },
		{ time_window_options, &values->window },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-plot",
		.synopsis = "WHAT [options]",
		.summary = "draw pictures of a pool; WHAT is one of",
		.examples = "poolscope plot cascade -p 'acct$pool' -o "
			    "pictures\n"
			    "poolscope plot usage --from -1d --term dumb\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

static int
plot(void *arg, struct tool_open *open, struct err *err)
{
	struct values *values = arg;

	starts_words(values->start, &open->start);
	values->is_start = open->start.begin_ns != START_UNKNOWN;
	return values->command->plot(
	    values, open->source, open->partition, err);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct opt_operands operands;
	struct sandbox sandbox;

	parse(&values, argc, argv, &operands);
	values.command = find_command(operands.at[0]);
	check_operands(&values, &operands);
	check_use(&values, values.command);
	values.given = values.window;
	sandbox_begin(&sandbox);
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .source = &values.source,
	    .sandbox = &sandbox,
	    .is_unconfined = !picture_sandbox(
		&sandbox, values.output, values.testrun.series),
	    .window = &values.window,
	    .starts = &values.starts,
	    .is_of_start = values.command->plot == plot_cascade_of ||
			   values.command->plot == plot_phases_of,
	    .model =
		runs_option_is_given(RUNS_MODEL) ? values.runs.model : NULL,
	    .work = plot,
	    .arg = &values });
}
