/*
 * poolscope-stats - print statistics of a pool and the state of the store.
 * poolscope-stats(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/tool/tool.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"

struct values {
	struct pool_options pool;
	struct source_options source;
	struct question_values of;
	const char *output;
	const struct question *question;
};

static const struct opt options[] = {
	TOOL_OUTPUT(struct values, output),
	{ .name = NULL },
};

enum { TOPICS_MAX = 32 };

/* Their texts live as long as the process, and so must what points to them. */
static struct opt_topic topics[TOPICS_MAX];

static void
make_topics(struct opt_topic to[static TOPICS_MAX])
{
	uint32_t count = 0;

	for (int i = 0; questions[i] != NULL; i++) {
		const struct question *question = questions[i];

		to[count++] = (struct opt_topic){ .word = question->word,
			.synopsis =
			    question->operand != NULL ? question->operand : "",
			.summary = question->summary,
			.options =
			    memory_format("format table output partition %s%s",
				question->is_of_all
				    ? ""
				    : "configdir credentials config-json pool ",
				question->options),
			.examples = question->examples };
	}
}

/* ---- the answer ---- */

/* A partition that is the default of this user is no wish to see it alone. */
static struct text
pattern_of(const struct values *values)
{
	return text_of(
	    opt_origin_of(&values->pool.partition) == OPT_COMMAND_LINE
		? values->pool.partition
		: "");
}

static int
print(void *arg, struct tool_open *open, struct err *err)
{
	struct values *values = arg;
	struct question_asked asked = { .options = &values->source,
		.source = open->source,
		.silent = open->silent.text,
		.partition = open->partition,
		.pattern = pattern_of(values),
		.values = &values->of,
		.status = &open->status };

	values->of.answer.width = open->width;
	return question_answer(values->question, &asked, open->file, err);
}

/* ---- the options ---- */

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
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

/* Check the options of the question, and choose what is opened for it. */
static void
fit(const struct values *values, struct tool *tool)
{
	struct err err = { 0 };

	answer_options_judge(&values->of.answer, values->question->tables);
	if (question_check(values->question, &values->of, &err) != 0)
		opt_usage("%s", err.text);
	tool->source = &values->source;
	output_sandbox(tool->sandbox, values->of.perf.save);
	if (values->of.compare.store != NULL) {
		const struct source_options other =
		    question_other_store(&values->of, &values->source);

		source_sandbox(tool->sandbox, &other);
	}
	tool->takes_silence = values->question->takes_silence;
	if (!values->question->is_of_all)
		tool->pool = &values->pool;
}

int
main(int argc, char **argv)
{
	struct values values = { .of = question_values_default(),
		.output = "-" };
	struct tool tool = {
		.work = print, .arg = &values, .is_for_timers = true
	};
	struct sandbox sandbox;
	struct opt_operands operands;
	struct err err = { 0 };

	parse(&values, argc, argv, &operands);
	if (question_complete(&values.of, &err) != 0)
		opt_usage("%s", err.text);
	values.question = question_find(operands.at[0]);
	values.of.what = operands.count > 1 ? operands.at[1] : NULL;
	tool.output = values.output;
	sandbox_begin(tool.sandbox = &sandbox);
	fit(&values, &tool);
	return tool_main(&tool);
}
