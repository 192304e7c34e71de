/*
 * top_once - print what a view shows, once.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/once.h"

#include "exporters/question/question.h"
#include "exporters/runs/stats_command.h"
#include "exporters/select/known.h"
#include "proto/os/clock.h"

static const struct order unsorted = { .column = -1 };

static int
print_runs(struct source *source, struct text partition, const char *model,
    enum stats_format format, FILE *file, struct err *err)
{
	char testrun[] = "testrun", deltas[] = "deltas";
	char *words[] = { testrun, deltas };
	const struct opt_operands operands = { words, 2 };
	struct runs_options options = RUNS_DEFAULT;

	options.model = model;
	options.newest = ONCE_RUNS;
	return stats_testrun(source, partition, &options, &operands,
	    (struct text){ NULL, 0 }, &unsorted, format, file, err);
}

static int
ask(const struct question *question, struct source *source,
    const struct source_options *options, struct text partition, bool json,
    FILE *file, int *status, struct err *err)
{
	struct question_values values = question_values_default();
	struct err silence = *err;
	bool found = false;
	struct question_asked asked = { .source = source,
		.silent = source == NULL ? silence.text : NULL,
		.options = options,
		.partition = partition,
		.values = &values,
		.found = &found };
	int rc;

	values.answer.format = json ? ANSWER_FORMAT_JSON : ANSWER_FORMAT_TABLE;
	values.answer.width = answer_terminal_width();
	rc = question_answer(question, &asked, file, err);
	*status = found ? 3 : 0;
	return rc;
}

int
once_print(struct source *source, const struct source_options *options,
    struct text partition, const char *model, enum top_view_number view,
    bool json, FILE *file, int *status, struct err *err)
{
	enum stats_format format = json ? STATS_JSON : STATS_TABLE;
	int rc;

	switch (view) {
	case VIEW_PIPELINE:
		return ask(&question_status, source, options, partition, json,
		    file, status, err);
	case VIEW_POOLS:
		return ask(&question_pools, source, options, partition, json,
		    file, status, err);
	case VIEW_RUNS:
		rc = print_runs(source, partition, model, format, file, err);
		return known_check_partition(source, partition, rc, err);
	default:
		return ask(&question_nodes, source, options, partition, json,
		    file, status, err);
	}
}
