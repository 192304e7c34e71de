/*
 * question_runs - a row for each test run: its group and state, when it began,
 * what describes it, and how long each of its steps took, all iterations added
 * up; or a row for each error, requestor, queue or configuration.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "exporters/question/question.h"
#include "exporters/runs/runs.h"
#include "proto/base/memory.h"

enum { BYS = 5 };

struct row {
	struct text run, group, state;
	enum answer_flag error;
	int64_t first;
	struct runs_description is;
	uint64_t events, runs, failed;
	struct text newest;
	int64_t newest_began;
};

#define PROPERTY(key, title, property, help)                                   \
	{                                                                      \
		key, title, ANSWER_AT_TEXT(struct row, is.of[property]), help, \
		    .traits = ANSWER_SPARE                                     \
	}

static const struct answer_column columns[] = {
	{ "run", "RUN", ANSWER_AT_TEXT(struct row, run), "the id of the run" },
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the group of devices; unknown: nothing describes the run" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state),
	    "queued, ongoing or finished" },
	{ "error", "ERROR", ANSWER_AT_FLAG(struct row, error),
	    "did it end with an error?" },
	{ "first", "FIRST", ANSWER_AT_TIME(struct row, first),
	    "when its first event was emitted; unknown: it has none",
	    .traits = ANSWER_SPARE },
	PROPERTY("queue", "QUEUE", RUNS_QUEUE,
	    "the queue of the run; unknown: nothing says it"),
	PROPERTY("configuration", "CONFIGURATION", RUNS_CONFIGURATION,
	    "its configuration; unknown: nothing says it"),
	PROPERTY("requestor", "REQUESTOR", RUNS_REQUESTOR,
	    "who requested it; unknown: nothing says it"),
	PROPERTY("error_text", "ERROR TEXT", RUNS_ERROR,
	    "the text of its error; unknown: it has none"),
	{ "runs", "RUNS", ANSWER_AT_COUNT(struct row, runs),
	    "with --by: how many runs there are" },
	{ "failed", "FAILED", ANSWER_AT_COUNT(struct row, failed),
	    "with --by: how many of them ended with an error" },
	{ "newest", "NEWEST", ANSWER_AT_TEXT(struct row, newest),
	    "with --by: the one that began last" },
	{ "newest_began", "BEGAN", ANSWER_AT_TIME(struct row, newest_began),
	    "with --by: when that one began", .traits = ANSWER_SPARE },
	{ "events", NULL, ANSWER_AT_COUNT(struct row, events),
	    "how many events it has" },
	RUN_ROWS_STEP_COLUMNS,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "runs", columns },
	{ "head", run_rows_head }, { .name = NULL } };

/* What a row is made of (--by), the runs first. */
static const struct {
	const char *column;
	enum runs_property property;
} bys[BYS] = { { NULL, 0 }, { "error_text", RUNS_ERROR },
	{ "requestor", RUNS_REQUESTOR }, { "queue", RUNS_QUEUE },
	{ "configuration", RUNS_CONFIGURATION } };

struct asking {
	struct runs *runs;
	enum run_clock clock;
	struct answer *answer;
	struct runs_doubt doubt;
	int by;
	/* The rows of few runs, of which each is described when all are known,
	 * and their steps; or those of --by. */
	struct row *rows;
	struct answer_cell *steps;
	uint32_t count, room, steps_room;
	struct string_table names; /* of the rows of --by */
};

static uint64_t
events_of(const struct run_events *events)
{
	uint64_t count = events->count + events->overflow;

	for (uint32_t i = 0; i < events->others; i++)
		count += events->other[i].count;
	return count;
}

static void
add_steps(struct asking *asking, const struct runs_run *run,
    struct answer_cell to[static RUN_STEPS_MAX])
{
	for (uint32_t i = 0; i < asking->runs->step_count; i++) {
		const struct runs_step *step = &asking->runs->steps[i];
		int64_t ns;

		to[i] = answer_seconds(runs_total(run, step, asking->clock, &ns)
					   ? ns
					   : ANSWER_NO_NS);
		if (asking->clock == RUN_RECEIVE)
			runs_doubt_add(&asking->doubt, run, step);
	}
}

static void
keep(struct asking *asking, struct row row, const struct answer_cell *steps)
{
	uint32_t step_count = asking->runs->step_count;
	struct string_table *texts = &asking->runs->texts;

	row.run = string_table_keep(texts, row.run);
	if (row.group.at != NULL)
		row.group = string_table_keep(texts, row.group);
	MEMORY_GROW(asking->rows, asking->room, asking->count);
	asking->rows[asking->count] = row;
	for (uint32_t i = 0; i < step_count; i++) {
		uint32_t at = asking->count * step_count + i;

		MEMORY_GROW(asking->steps, asking->steps_room, at);
		asking->steps[at] = steps[i];
	}
	asking->count++;
}

static int
put(void *arg, const struct runs_run *run)
{
	static const char *const states[RUN_STATES] = { "queued", "ongoing",
		"finished" };
	struct asking *asking = arg;
	struct answer_cell steps[RUN_STEPS_MAX];
	struct row row = { .run = run->id,
		.group = run_rows_group(run),
		.state = text_of(states[run->state]),
		.error = run->error ? ANSWER_YES : ANSWER_NO,
		.first = run->has_time ? run->time_ns : ANSWER_NO_NS,
		.events = events_of(&run->events),
		.runs = ANSWER_NO_COUNT,
		.failed = ANSWER_NO_COUNT,
		.newest_began = ANSWER_NO_NS };

	add_steps(asking, run, steps);
	if (!asking->runs->describe_all) {
		keep(asking, row, steps);
		return 0;
	}
	row.is = runs_descriptions_find(&asking->runs->descriptions, run->id);
	answer_row(asking->answer, &row, steps);
	return answer_is_broken(asking->answer);
}

static int
put_kept(struct asking *asking, struct err *err)
{
	struct runs_descriptions *known = &asking->runs->descriptions;

	for (uint32_t i = 0; i < asking->count; i++) {
		struct row *row = &asking->rows[i];

		if (runs_descriptions_read(known, row->run, err) != 0)
			return -1;
		row->is = runs_descriptions_find(known, row->run);
		answer_row(asking->answer, row,
		    asking->steps + i * asking->runs->step_count);
	}
	return 0;
}

/* ---- --by ---- */

static int
count(void *arg, const struct runs_run *run)
{
	struct asking *asking = arg;
	enum runs_property property = bys[asking->by].property;
	struct runs_description is =
	    runs_descriptions_find(&asking->runs->descriptions, run->id);
	uint32_t number;
	struct row *row;

	if (property == RUNS_ERROR && !run->error)
		return 0;
	number = string_table_add(&asking->names,
	    is.of[property].at != NULL ? is.of[property] : text_of(""));
	MEMORY_GROW(asking->rows, asking->room, number);
	row = &asking->rows[number];
	if (number == asking->count) {
		asking->count++;
		*row = (struct row){ .error = ANSWER_NO_FLAG,
			.first = ANSWER_NO_NS,
			.events = ANSWER_NO_COUNT,
			.newest_began = ANSWER_NO_NS };
		row->is.of[property] = is.of[property];
	}
	row->runs++;
	row->failed += run->error;
	if (row->newest.at == NULL ||
	    (run->has_time && run->time_ns > row->newest_began)) {
		row->newest = string_table_text(&asking->runs->texts, run->id);
		row->newest_began = run->has_time ? run->time_ns : ANSWER_NO_NS;
	}
	return 0;
}

static int
by_runs(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = 0;

	if (a->runs != b->runs)
		return a->runs > b->runs ? -1 : 1;
	for (int i = 0; order == 0 && i < RUNS_PROPERTIES; i++)
		order = text_compare(a->is.of[i], b->is.of[i]);
	return order;
}

static void
put_counted(struct asking *asking)
{
	if (asking->count > 0)
		qsort(asking->rows, asking->count, sizeof(*asking->rows),
		    by_runs);
	for (uint32_t i = 0; i < asking->count; i++)
		answer_row(asking->answer, &asking->rows[i], NULL);
}

/* The table has no columns that are of the other rows. */
static void
hide_columns(const struct asking *asking)
{
	static const char *const of_runs[] = { "run", "group", "state", "error",
		"first", "queue", "configuration", "requestor", "error_text" };
	static const char *const of_by[] = { "runs", "failed", "newest",
		"newest_began" };

	if (asking->by == 0)
		for (size_t i = 0; i < sizeof(of_by) / sizeof(*of_by); i++)
			answer_hide_column(asking->answer, of_by[i]);
	else
		for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs); i++)
			if (strcmp(of_runs[i], bys[asking->by].column) != 0)
				answer_hide_column(asking->answer, of_runs[i]);
}

static int
ask_runs(
    struct asking *asking, const struct runs_options *options, struct err *err)
{
	const struct opt_list *ids = &options->ids;
	bool few = options->newest > 0
		       ? options->newest <= RUNS_FEW
		       : ids->count > 0 && ids->count <= RUNS_FEW;

	asking->runs->describe_all |= !few || asking->by != 0;
	if (asking->by == 0)
		run_rows_add_steps(asking->runs, asking->answer);
	hide_columns(asking);
	if (run_rows_each(asking->runs, options, asking->by != 0 ? count : put,
		asking, err) != 0)
		return -1;
	if (asking->by == 0)
		return put_kept(asking, err);
	put_counted(asking);
	return 0;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct runs_options *options = &asked->values->runs;
	struct runs runs;
	struct asking asking = { .runs = &runs,
		.clock = (enum run_clock)options->time,
		.by = question_by(&question_runs, asked->values),
		.answer = answer };
	int rc =
	    runs_open(&runs, asked->source, asked->partition, options, err);

	string_table_init(&asking.names);
	if (rc == 0) {
		run_rows_put_head(&runs, options, "runs", answer);
		rc = ask_runs(&asking, options, err);
		run_rows_note_doubt(&asking.doubt, "durations", answer);
	}
	string_table_clear(&asking.names);
	free(asking.rows);
	free(asking.steps);
	runs_clear(&runs);
	return rc;
}

const struct question question_runs = { .word = "runs",
	.summary = "test runs: their state, and the time of each step",
	.options = "by time " RUN_ROWS_OPTIONS,
	.examples = "poolscope stats runs -p 'acct$farm' --newest 20\n"
		    "poolscope stats runs --by error --from -24h --top 10\n"
		    "poolscope stats runs --sort step.flash --top 5\n",
	.tables = tables,
	.by = "run|error|requestor|queue|configuration",
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = question_check_runs,
	.ask = ask };
