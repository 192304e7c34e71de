/*
 * top_once - print what a view shows, once.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/once.h"

#include "exporters/question/question.h"

static int
ask(const struct question *question, struct source *source,
    const struct source_options *options, struct text partition,
    const char *model, bool json, FILE *file, int *status, struct err *err)
{
	struct question_values values = question_values_default();
	struct err silence = *err;
	struct question_asked asked = { .source = source,
		.silent = source == NULL ? silence.text : NULL,
		.options = options,
		.partition = partition,
		.values = &values,
		.status = status };

	values.answer.format = json ? ANSWER_FORMAT_JSON : ANSWER_FORMAT_TABLE;
	values.answer.width = answer_terminal_width();
	values.runs.model = model;
	values.runs.newest = ONCE_RUNS;
	return question_answer(question, &asked, file, err);
}

int
once_print(struct source *source, const struct source_options *options,
    struct text partition, const char *model, enum top_view_number view,
    bool json, FILE *file, int *status, struct err *err)
{
	switch (view) {
	case VIEW_PIPELINE:
		return ask(&question_status, source, options, partition, model,
		    json, file, status, err);
	case VIEW_POOLS:
		return ask(&question_pools, source, options, partition, model,
		    json, file, status, err);
	case VIEW_RUNS:
		return ask(&question_runs, source, options, partition, model,
		    json, file, status, err);
	default:
		return ask(&question_nodes, source, options, partition, model,
		    json, file, status, err);
	}
}
