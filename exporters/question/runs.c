/*
 * question_runs - a row for each test run: its group and state, when it began,
 * and how long each of its steps took, all iterations added up.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/question.h"
#include "exporters/runs/run_rows.h"

struct row {
	struct text run, group, state;
	enum answer_flag error;
	int64_t first;
	uint64_t events;
};

static const struct answer_column columns[] = {
	{ "run", "RUN", ANSWER_AT_TEXT(struct row, run), NULL,
	    "the id of the run", false, NULL },
	{ "group", "GROUP", ANSWER_AT_TEXT(struct row, group), NULL,
	    "the group of devices; unknown: nothing describes the run", false,
	    NULL },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state), NULL,
	    "queued, ongoing or finished", false, NULL },
	{ "error", "ERROR", ANSWER_AT_FLAG(struct row, error), NULL,
	    "did it end with an error?", false, NULL },
	{ "first", "FIRST", ANSWER_AT_TIME(struct row, first), NULL,
	    "when its first event was emitted; unknown: it has none",
	    ANSWER_SPARE, NULL },
	{ "events", NULL, ANSWER_AT_COUNT(struct row, events), NULL,
	    "how many events it has", false, NULL },
	RUN_ROWS_STEP_COLUMNS,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "runs", columns },
	{ "head", run_rows_head }, { .name = NULL } };

struct asking {
	const struct runs *runs;
	enum run_clock clock;
	struct answer *answer;
	struct runs_doubt doubt;
};

static uint64_t
events_of(const struct run_events *events)
{
	uint64_t count = events->count + events->overflow;

	for (uint32_t i = 0; i < events->others; i++)
		count += events->other[i].count;
	return count;
}

static int
put(void *arg, const struct runs_run *run)
{
	static const char *const states[RUN_STATES] = { "queued", "ongoing",
		"finished" };
	struct asking *asking = arg;
	struct answer_cell steps[RUN_STEPS_MAX];
	const struct row row = { .run = run->id,
		.group = run_rows_group(run),
		.state = text_of(states[run->state]),
		.error = run->error ? ANSWER_YES : ANSWER_NO,
		.first = run->has_time ? run->time_ns : ANSWER_NO_NS,
		.events = events_of(&run->events) };

	for (uint32_t i = 0; i < asking->runs->step_count; i++) {
		const struct runs_step *step = &asking->runs->steps[i];
		int64_t ns;

		steps[i] = answer_seconds(
		    runs_total(run, step, asking->clock, &ns) ? ns
							      : ANSWER_NO_NS);
		if (asking->clock == RUN_RECEIVE)
			runs_doubt_add(&asking->doubt, run, step);
	}
	answer_row(asking->answer, &row, steps);
	return answer_is_broken(asking->answer);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct runs_options *options = &asked->values->runs;
	struct runs runs;
	struct asking asking = { .runs = &runs,
		.clock = (enum run_clock)options->time,
		.answer = answer };
	int rc =
	    runs_open(&runs, asked->source, asked->partition, options, err);

	if (rc == 0) {
		run_rows_put_head(&runs, options, "runs", answer);
		run_rows_add_steps(&runs, answer);
		rc = run_rows_each(&runs, options, put, &asking, err);
		run_rows_note_doubt(&asking.doubt, "durations", answer);
	}
	runs_clear(&runs);
	return rc;
}

const struct question question_runs = { .word = "runs",
	.summary = "test runs: their state, and the time of each step",
	.options = "time " RUN_ROWS_OPTIONS,
	.examples = "poolscope stats runs -p 'acct$farm' --newest 20\n"
		    "poolscope stats runs --sort step.flash --top 5\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_ENTITY,
	.check = question_check_runs,
	.ask = ask };
