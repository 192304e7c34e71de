/*
 * poolscope-stats - print statistics of a pool and the state of the store.
 * poolscope-stats(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/stats/stats_format.h"
#include "exporters/stats/topics/topics.h"
#include "exporters/tool/tool.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"

static const struct opt options[] = {
	TOOL_OUTPUT(struct topics_values, output),
	{ .name = NULL },
};

enum { TOPICS_MAX = 32 };

#define POOL "partition configdir credentials config-json pool format output "

static const struct opt_topic others[] = {
	{ "metrics", "", "numbers of pools for Prometheus (OpenMetrics)",
	    "partition metrics prometheus output",
	    "poolscope stats metrics --prometheus -o poolscope.prom\n"
	    "poolscope stats metrics -p 'acct$*' --metrics nodes\n" },
	{ .word = NULL },
};

/* Their texts live as long as the process, and so must what points to them. */
static struct opt_topic topics[TOPICS_MAX];

/* The questions, then the others. */
static void
make_topics(struct opt_topic to[static TOPICS_MAX])
{
	uint32_t count = 0;

	for (int i = 0; questions[i] != NULL; i++) {
		const struct question *question = questions[i];

		to[count++] = (struct opt_topic){ .word = question->word,
			.synopsis = "",
			.summary = question->summary,
			.options =
			    memory_format("format table output partition %s%s",
				question->is_of_all
				    ? ""
				    : "configdir credentials config-json pool ",
				question->options),
			.examples = question->examples };
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		to[count++] = others[i];
}

/* ---- the answer ---- */

static int
ask(struct topics_values *values, const struct question *question,
    struct tool_open *open, struct err *err)
{
	bool found = false;
	struct question_asked asked = { .options = &values->source,
		.source = open->source,
		.silent = open->silent.text,
		.partition = open->partition,
		.pattern = topics_pattern(values),
		.values = &values->of,
		.found = &found };
	int rc = question_answer(question, &asked, open->file, err);

	open->status = found ? STATUS_FOUND : 0;
	return rc;
}

static int
print(void *arg, struct tool_open *open, struct err *err)
{
	struct topics_values *values = arg;

	values->of.answer.width = open->width;
	values->status = &open->status;
	if (values->question != NULL)
		return ask(values, values->question, open, err);
	if (values->topic->print_whole != NULL)
		return values->topic->print_whole(values, open->file, err);
	return values->topic->print(
	    values, open->source, open->partition, open->file, err);
}

/* ---- the options ---- */

static void
check_use(struct topics_values *values, const struct topic *topic)
{
	const char *what = topic->word;

	if ((topic->formats & 1u << values->of.answer.format) == 0)
		opt_usage("%s supports the formats %s", what,
		    (topic->formats & 1u << STATS_CSV) != 0
			? "table, json and csv"
			: "table and json");
}

static void
parse(struct topics_values *values, int argc, char **argv,
    struct opt_operands *operands)
{
	struct opt_table tables[QUESTION_TABLES + 4] = {
		{ pool_options, &values->pool }, { options, values },
		{ source_options, &values->source }, { opt_common, NULL }
	};
	const struct opt_program program = {
		.name = "poolscope-stats",
		.synopsis = "WHAT [options]",
		.summary = "print numbers of a pool; WHAT is one of",
		.examples = "poolscope stats phases -p 'acct$pool'\n"
			    "poolscope stats usage --from -1d\n",
		.tables = tables,
		.topics = topics,
	};

	question_tables(tables + 4, &values->of);
	make_topics(topics);
	opt_parse(&program, argc, argv, operands);
	question_give_parsed(&values->of);
}

/* Check the options of a question, and choose what is opened for it. */
static void
fit_question(const struct topics_values *values, struct tool *tool)
{
	struct err err = { 0 };

	answer_options_judge(&values->of.answer, values->question->tables);
	if (question_check(values->question, &values->of, &err) != 0)
		opt_usage("%s", err.text);
	tool->source = &values->source;
	output_sandbox(tool->sandbox, values->of.perf.save);
	tool->takes_silence = values->question->takes_silence;
	if (!values->question->is_of_all)
		tool->pool = &values->pool;
}

static void
fit_topic(struct topics_values *values, struct tool *tool)
{
	const struct topic *topic = values->topic;

	check_use(values, topic);
	/* It opens its sources itself. */
	if (topic->print_whole != NULL)
		source_sandbox(tool->sandbox, &values->source);
	else
		tool->source = &values->source;
	if (topic->is_of_all)
		return;
	tool->pool = &values->pool;
	tool->window = topic->print_whole != NULL ? NULL : &values->of.window;
	tool->starts = &values->of.starts;
	tool->model = topics_model(values);
}

int
main(int argc, char **argv)
{
	struct topics_values values = { .of = question_values_default(),
		.output = "-" };
	struct tool tool = { .work = print, .arg = &values };
	struct sandbox sandbox;
	struct opt_operands operands;
	struct err err = { 0 };

	parse(&values, argc, argv, &operands);
	if (question_complete(&values.of, &err) != 0)
		opt_usage("%s", err.text);
	values.question = question_find(operands.at[0]);
	values.topic = topics_find(operands.at[0]);
	tool.output = values.output;
	sandbox_begin(tool.sandbox = &sandbox);
	if (values.question != NULL)
		fit_question(&values, &tool);
	else
		fit_topic(&values, &tool);
	return tool_main(&tool);
}
