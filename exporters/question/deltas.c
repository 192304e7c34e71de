/*
 * question_deltas - how long each iteration of each step of a test run took: a
 * row for each run, and one more for each iteration that any of its steps has.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/runs/runs.h"
#include "proto/base/memory.h"

struct row {
	struct text run, group;
	uint64_t iteration;
};

static const struct answer_column columns[] = {
	{ "run", "RUN", ANSWER_AT_TEXT(struct row, run), "the id of the run" },
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group),
	    "the group of devices; unknown: nothing describes the run",
	    .traits = ANSWER_SPARE },
	{ "iteration", "ITERATION", ANSWER_AT_COUNT(struct row, iteration),
	    "which one of each step, from 1 on; unknown: the run has no step",
	    .traits = ANSWER_SPARE },
	RUN_ROWS_STEP_COLUMNS,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "deltas", columns },
	{ "head", run_rows_head }, { .name = NULL } };

struct asking {
	const struct runs *runs;
	enum run_clock clock;
	struct answer *answer;
	struct runs_doubt doubt;
	/* Of one run. */
	uint32_t counts[RUN_STEPS_MAX];
	int64_t ns[RUN_STEPS_MAX][RUN_EVENTS_MAX / 2];
	struct answer_cell steps[RUN_STEPS_MAX]; /* of one row */
};

/* How many iterations has the step that has the most? */
static uint32_t
take(struct asking *asking, const struct runs_run *run)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < asking->runs->step_count; i++) {
		const struct runs_step *step = &asking->runs->steps[i];

		asking->counts[i] = run_events_durations(
		    &run->events, step->of, asking->clock, asking->ns[i]);
		if (asking->counts[i] > most)
			most = asking->counts[i];
		if (asking->clock == RUN_RECEIVE)
			runs_doubt_add(&asking->doubt, run, step);
	}
	return most;
}

static int
put(void *arg, const struct runs_run *run)
{
	struct asking *asking = arg;
	struct answer_cell *steps = asking->steps;
	uint32_t most = take(asking, run), k = 0;

	do {
		const struct row row = { run->id, run_rows_group(run),
			most == 0 ? ANSWER_NO_COUNT : k + 1 };

		for (uint32_t i = 0; i < asking->runs->step_count; i++)
			steps[i] = answer_seconds(k < asking->counts[i]
						      ? asking->ns[i][k]
						      : ANSWER_NO_NS);
		answer_row(asking->answer, &row, steps);
	} while (++k < most);
	return answer_is_broken(asking->answer);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct runs_options *options = &asked->values->runs;
	struct asking *asking = memory_zero(1, sizeof(*asking));
	struct runs runs;
	int rc =
	    runs_open(&runs, asked->source, asked->partition, options, err);

	if (rc == 0) {
		asking->runs = &runs;
		asking->clock = (enum run_clock)options->time;
		asking->answer = answer;
		run_rows_put_head(&runs, options, "steps of runs", answer);
		run_rows_add_steps(&runs, answer);
		rc = run_rows_each(&runs, options, put, asking, err);
		run_rows_note_doubt(&asking->doubt, "durations", answer);
	}
	runs_clear(&runs);
	free(asking);
	return rc;
}

const struct question question_deltas = { .word = "deltas",
	.summary = "test runs: each iteration of each step",
	.options = "time " RUN_ROWS_OPTIONS,
	.examples = "poolscope stats deltas -p 'acct$farm' --run 4711\n"
		    "poolscope stats deltas --format csv --from -1d\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = question_check_runs,
	.ask = ask };
