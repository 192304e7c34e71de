/*
 * question_skew - how long after its emission an event of a test run was
 * received, by node and event: shows slow transport and wrong clocks.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/question.h"
#include "exporters/runs/clock_skew.h"
#include "exporters/runs/runs.h"
#include "proto/os/clock.h"

struct row {
	struct text node, event;
	uint64_t count, negative;
	double min, mean, max, std_population, std_sample;
};

#define NUMBER(member) .unit = "s", ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "event", "EVENT", ANSWER_AT_TEXT(struct row, event),
	    "the event of the model" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how many there are" },
	{ "negative", "BEFORE", ANSWER_AT_COUNT(struct row, negative),
	    "how many were received before they were emitted, by the two "
	    "clocks" },
	{ "min", "MIN", NUMBER(min), "the shortest delay" },
	{ "mean", "MEAN", NUMBER(mean), "the mean delay" },
	{ "max", "MAX", NUMBER(max), "the longest delay" },
	{ "std_population", "STD", NUMBER(std_population),
	    "the standard deviation of these delays", .traits = ANSWER_SPARE },
	{ "std_sample", NULL, NUMBER(std_sample),
	    "the same, taken for a sample of more" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "skew", columns },
	{ "head", run_rows_head }, { .name = NULL } };

static void
put(struct answer *answer, const struct runs_skew_row *of)
{
	const struct row row = { of->node, of->event, of->count, of->negative,
		(double)of->min_ns / NS_PER_SECOND, runs_skew_mean(of),
		(double)of->max_ns / NS_PER_SECOND,
		runs_skew_deviation(of, false), runs_skew_deviation(of, true) };

	answer_row(answer, &row, NULL);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct runs_skew skew = { .rows = NULL };
	char shown[300];
	struct runs runs;
	int rc;

	/* A corrected clock has no skew. */
	source_clock(asked->source)->choice = CLOCK_RAW;
	rc = runs_open(
	    &runs, asked->source, asked->partition, &asked->values->runs, err);
	if (rc == 0)
		rc = runs_skew_read(&skew, &runs,
		    text_of(asked->values->window.node.list), err);
	if (rc == 0) {
		answer_head(answer, "model", answer_text(runs.model));
		answer_title(answer,
		    "runs of %s, seconds between emission and receipt",
		    text_quote(shown, sizeof(shown), asked->partition));
		for (uint32_t i = 0; i < skew.count; i++)
			put(answer, &skew.rows[i]);
	}
	runs_skew_clear(&skew);
	runs_clear(&runs);
	return rc;
}

const struct question question_skew = { .word = "skew",
	.summary = "test runs: receive times against emit times",
	.options = "model node from to sort top columns",
	.examples = "poolscope stats skew\n"
		    "poolscope stats skew -n 'n1*' --sort max\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT,
	.check = question_check_runs,
	.ask = ask };
