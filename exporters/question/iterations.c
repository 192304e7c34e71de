/*
 * question_iterations - how many events of each name a test run has: a row for
 * each run and name.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "exporters/question/question.h"
#include "exporters/runs/runs.h"

struct row {
	struct text run, group, event;
	uint64_t count;
	enum answer_flag other;
};

static const struct answer_column columns[] = {
	{ "run", "RUN", ANSWER_AT_TEXT(struct row, run), "the id of the run" },
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the group of devices; unknown: nothing describes the run",
	    .traits = ANSWER_SPARE },
	{ "event", "EVENT", ANSWER_AT_TEXT(struct row, event),
	    "the name of the events; " RUNS_OTHERS
	    ": those beyond the names that a run can have" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how many there are" },
	{ "other", "OTHER", ANSWER_AT_FLAG(struct row, other),
	    "does the model of the runs not have the event?" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "iterations", columns },
	{ "head", run_rows_head }, { .name = NULL } };

struct asking {
	const struct runs *runs;
	struct answer *answer;
	uint64_t unnamed; /* events that are counted as RUNS_OTHERS */
};

static int
put(void *arg, const struct runs_run *run)
{
	struct asking *asking = arg;
	struct run_tallies tallies;

	run_tally(&tallies, asking->runs, run);
	for (uint32_t i = 0; i < tallies.count; i++) {
		const struct row row = { run->id, run_rows_group(run),
			tallies.at[i].name, tallies.at[i].count,
			i < tallies.roles ? ANSWER_NO : ANSWER_YES };

		if (row.count > 0)
			answer_row(asking->answer, &row, NULL);
	}
	asking->unnamed += run->events.overflow;
	return answer_is_broken(asking->answer);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct runs_options *options = &asked->values->runs;
	struct runs runs;
	struct asking asking = { .runs = &runs, .answer = answer };
	char shown[300];
	int rc =
	    runs_open(&runs, asked->source, asked->partition, options, err);

	if (rc == 0) {
		answer_head(answer, "model", answer_text(runs.model));
		answer_title(answer, "events of runs of %s",
		    text_quote(shown, sizeof(shown), asked->partition));
		rc = run_rows_each(&runs, options, put, &asking, err);
	}
	if (asking.unnamed > 0)
		answer_note(answer, "unnamed", asking.unnamed,
		    "%" PRIu64 " events are counted as " RUNS_OTHERS
		    ": a run can have %d names of events that its model does "
		    "not name",
		    asking.unnamed, RUN_NAMES_MAX);
	runs_clear(&runs);
	return rc;
}

const struct question question_iterations = { .word = "iterations",
	.summary = "test runs: how many events of each name they have",
	.options = RUN_ROWS_OPTIONS,
	.examples = "poolscope stats iterations -p 'acct$farm' --run 4711\n"
		    "poolscope stats iterations --sort count --top 10\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = question_check_runs,
	.ask = ask };
