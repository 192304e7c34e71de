/*
 * top_once - print what a view shows, once.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/once.h"

#include "exporters/nodes/nodes.h"
#include "exporters/nodes/pools.h"
#include "exporters/question/question.h"
#include "exporters/runs/stats_command.h"
#include "exporters/select/known.h"
#include "exporters/stats/status.h"
#include "proto/os/clock.h"

static const struct order unsorted = { .column = -1 };

static int
print_nodes(struct source *source, struct text partition,
    enum stats_format format, FILE *file, int *status, struct err *err)
{
	const struct nodes_options how = {
		.from_ns = TIME_MIN_NS,
		.order = &unsorted,
	};

	return nodes_print(source, partition, &how, format, file, status, err);
}

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
    FILE *file, struct err *err)
{
	struct question_values values = question_values_default();
	bool found = false;
	struct question_asked asked = { .source = source,
		.options = options,
		.partition = partition,
		.values = &values,
		.found = &found };

	values.answer.format = json ? ANSWER_FORMAT_JSON : ANSWER_FORMAT_TABLE;
	return question_answer(question, &asked, file, err);
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
		return stats_status(
		    options, pools_add_facts, json, false, file, status, err);
	case VIEW_POOLS:
		return ask(&question_pools, source, options, partition, json,
		    file, err);
	case VIEW_RUNS:
		rc = print_runs(source, partition, model, format, file, err);
		break;
	default:
		rc = print_nodes(source, partition, format, file, status, err);
		break;
	}
	return known_check_partition(source, partition, rc, err);
}
