/*
 * question_phases - statistics of every phase: of all time, as the aggregator
 * computes them, or of those that begin in a window.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "exporters/question/question.h"
#include "exporters/phases/phase_rows.h"

struct row {
	struct text phase, node, key, start, end, unmatched;
	uint64_t count, open, open_starts, open_ends, place;
	double sum, min, max, mean, std_population, std_sample, p50, p90, p99;
	enum answer_flag required;
};

#define NUMBER(member) .unit = "s", ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct row, phase),
	    "the model and the phase" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "with --by node: of which node" },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key),
	    "with --by key: what it was of, such as an image" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how often it occurred" },
	{ "sum", NULL, NUMBER(sum), "all durations together" },
	{ "min", "MIN", NUMBER(min), "the shortest duration",
	    .traits = ANSWER_SPARE },
	{ "max", "MAX", NUMBER(max), "the longest duration" },
	{ "mean", "MEAN", NUMBER(mean), "the mean duration",
	    .traits = ANSWER_SPARE },
	{ "std_population", "STD", NUMBER(std_population),
	    "the standard deviation, divided by count",
	    .traits = ANSWER_SPARE },
	{ "std_sample", NULL, NUMBER(std_sample),
	    "the standard deviation, divided by count - 1" },
	{ "p50", "P50", NUMBER(p50), "the median" },
	{ "p90", "P90", NUMBER(p90), "nine of ten are not longer" },
	{ "p99", "P99", NUMBER(p99), "99 of 100 are not longer",
	    .traits = ANSWER_SPARE },
	{ "open_starts", NULL, ANSWER_AT_COUNT(struct row, open_starts),
	    "starts without an end" },
	{ "open_ends", NULL, ANSWER_AT_COUNT(struct row, open_ends),
	    "ends without a start" },
	{ "open", "OPEN", ANSWER_AT_COUNT(struct row, open),
	    "starts without an end, and ends without a start" },
	{ "start", NULL, ANSWER_AT_TEXT(struct row, start),
	    "the event that begins the phase" },
	{ "end", NULL, ANSWER_AT_TEXT(struct row, end),
	    "the event that ends it" },
	{ "unmatched", NULL, ANSWER_AT_TEXT(struct row, unmatched),
	    "what the model says of a start without an end" },
	{ "place", NULL, ANSWER_AT_COUNT(struct row, place),
	    "its position in the model, from 0 on" },
	{ "required", NULL, ANSWER_AT_FLAG(struct row, required),
	    "is a node ready only after it?" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	QUESTION_START_MEMBERS,
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "phases", columns },
	{ "head", head }, { .name = NULL } };

struct asking {
	struct answer *answer;
	enum phases_part part;
	char last[2 * NAME_BYTES_MAX + 2]; /* the phase of the row before */
};

static uint64_t
count_of(double number)
{
	return number >= 0 && number < 0x1p63 ? (uint64_t)number
					      : ANSWER_NO_COUNT;
}

static void
take_attributes(struct row *row, struct text pairs)
{
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a)) {
		if (a.value.type == VALUE_TEXT) {
			if (text_equal(a.key, text_of("start")))
				row->start = a.value.is.text;
			else if (text_equal(a.key, text_of("end")))
				row->end = a.value.is.text;
			else if (text_equal(a.key, text_of("unmatched")))
				row->unmatched = a.value.is.text;
		} else if (a.value.type == VALUE_INT &&
			   text_equal(a.key, text_of("place"))) {
			row->place = (uint64_t)a.value.is.i;
		} else if (a.value.type == VALUE_BOOL &&
			   text_equal(a.key, text_of("required"))) {
			row->required =
			    a.value.is.boolean ? ANSWER_YES : ANSWER_NO;
		}
	}
}

/* A model has phases that a pool never goes through, and some whose start alone
 * means nothing: people do not want to read of them, programs want every
 * phase. */
static bool
is_listed(const struct answer *answer, const struct row *row, bool ignores)
{
	return !answer_is_for_people(answer) || row->count > 0 ||
	       (!ignores && row->open > 0);
}

static struct text
part_of(const struct phase_row *of, bool wanted)
{
	return wanted ? of->part : (struct text){ NULL, 0 };
}

static void
put(void *arg, const struct phase_row *of)
{
	struct asking *asking = arg;
	const double *n = of->numbers;
	struct row row = { .phase = of->phase,
		.node = part_of(of, asking->part == PHASES_BY_NODE),
		.key = part_of(of, asking->part == PHASES_BY_KEY),
		.count = count_of(n[PHASE_COUNT]),
		.open_starts = count_of(n[PHASE_OPEN_STARTS]),
		.open_ends = count_of(n[PHASE_OPEN_ENDS]),
		.place = ANSWER_NO_COUNT,
		.sum = n[PHASE_SUM],
		.min = n[PHASE_MIN],
		.max = n[PHASE_MAX],
		.mean = n[PHASE_MEAN],
		.std_population = n[PHASE_STD_POPULATION],
		.std_sample = n[PHASE_STD_SAMPLE],
		.p50 = n[PHASE_P50],
		.p90 = n[PHASE_P90],
		.p99 = n[PHASE_P99],
		.required = ANSWER_NO_FLAG };

	row.open = row.open_starts == ANSWER_NO_COUNT ||
			   row.open_ends == ANSWER_NO_COUNT
		       ? ANSWER_NO_COUNT
		       : row.open_starts + row.open_ends;
	take_attributes(&row, of->attributes);
	if (!is_listed(asking->answer, &row, of->ignores_open))
		return;
	/* The worst parts of each phase are seen. */
	if (asking->part != PHASES_OF_POOL &&
	    !text_equal(of->phase, text_of(asking->last))) {
		answer_next_group(asking->answer);
		snprintf(asking->last, sizeof(asking->last), "%.*s",
		    (int)of->phase.bytes, of->phase.at);
	}
	answer_row(asking->answer, &row, NULL);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = { .answer = answer,
		.part = question_by(&question_phases, asked->values) };
	struct wire_query query = question_query(asked, 1u << RECORD_ENTITY);
	struct phase_rows *rows;
	char shown[300];
	int rc;

	query.name = text_of(asked->values->name);
	answer_title(answer, "phases of %s, seconds",
	    text_quote(shown, sizeof(shown), asked->partition));
	if (asking.part != PHASES_BY_NODE)
		answer_hide_column(answer, "node");
	if (asking.part != PHASES_BY_KEY)
		answer_hide_column(answer, "key");
	rc = phase_rows_open(
	    &rows, asked->source, asked->partition, &query, asking.part, err);
	if (rc == 0)
		rc = phase_rows_each(rows, put, &asking, err);
	if (rc == 0 && answer_rows(answer) == 0)
		rc = phase_rows_refuse(rows, err);
	phase_rows_close(&rows);
	return rc;
}

const struct question question_phases = { .word = "phases",
	.summary = "statistics of the phases of a pool",
	.options = "by name node job user start gap from to sort top columns",
	.examples = "poolscope stats phases --from yesterday\n"
		    "poolscope stats phases --by node --sort p99 --top 5\n"
		    "poolscope stats phases --by key --sort p50 --top 5\n",
	.tables = tables,
	.by = "pool|node|key", /* enum phases_part */
	.is_of_records = true,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.ask = ask };
