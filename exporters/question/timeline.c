/*
 * question_timeline - what each node did when: the segments of its bar.
 *
 * A row is a segment: of a node, from a moment to another, in a phase.  Times
 * are integers in nanoseconds.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/phases/timeline.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"

struct row {
	struct text node, phase, key;
	int64_t begin, end, offset, duration;
	enum answer_flag open;
	uint64_t lane;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member), "s"

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), NULL,
	    "the node; nodes come in the order of their first begin", false,
	    NULL },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct row, begin), NULL,
	    "when the segment begins", ANSWER_SPARE, NULL },
	{ "end", NULL, ANSWER_AT_TIME(struct row, end), NULL, "when it ends",
	    false, NULL },
	{ "offset", "AFTER", SECONDS(offset),
	    "when it begins, after the first begin of all (t0)", false, NULL },
	{ "duration", "DURATION", SECONDS(duration), "from begin to end", false,
	    NULL },
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct row, phase), NULL,
	    "the model and the phase", false, NULL },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key), NULL,
	    "of which image, job or other key; unknown: the phase has none",
	    false, NULL },
	{ "open", "OPEN", ANSWER_AT_FLAG(struct row, open), NULL,
	    "has the phase no end? Then the segment goes to the last record of "
	    "the node, or to where the phase or the node begins again",
	    false, NULL },
	{ "lane", "LANE", ANSWER_AT_COUNT(struct row, lane), NULL,
	    "with --lanes: the number of the lane, from 0", false, NULL },
	{ .key = NULL },
};

struct name_row {
	struct text name;
};

static const struct answer_column phase_columns[] = {
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct name_row, name), NULL,
	    "a phase that occurs, in the order of the model", false, NULL },
	{ .key = NULL },
};

static const struct answer_column model_columns[] = {
	{ "model", "MODEL", ANSWER_AT_TEXT(struct name_row, name), NULL,
	    "a model that the partition has", false, NULL },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", NULL, ANSWER_TEXT, 0, NULL, "of which model the phases are",
	    false, NULL },
	QUESTION_CLOCK_MEMBER,
	{ "t0", NULL, ANSWER_TIME, 0, NULL, "when the first phase began", false,
	    NULL },
	{ "t1", NULL, ANSWER_TIME, 0, NULL, "when the last one ended", false,
	    NULL },
	{ "nodes", NULL, ANSWER_COUNT, 0, NULL, "how many nodes there are",
	    false, NULL },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "timeline", columns },
	{ "phases", phase_columns }, { "models", model_columns },
	{ "head", head }, { .name = NULL } };

struct asking {
	struct answer *answer;
	const struct phases_timeline *of;
	enum phases_form form;
	uint64_t without_lane;
};

static void
put(void *arg, const struct phases_segment *segment)
{
	struct asking *asking = arg;
	const struct phases_timeline *t = asking->of;
	struct text key = t->phases.keys.names[segment->key];
	struct row row = { .node = t->phases.nodes.names[segment->node],
		.phase = t->names.phases.names[segment->phase],
		.key = key.bytes > 0 ? key : (struct text){ NULL, 0 },
		.begin = segment->begin_ns,
		.end = segment->end_ns,
		.offset = segment->begin_ns - t->first_ns,
		.duration = segment->end_ns - segment->begin_ns,
		.open = segment->is_open ? ANSWER_YES : ANSWER_NO,
		.lane = ANSWER_NO_COUNT };

	if (asking->form == PHASES_LANES && segment->lane != UINT32_MAX)
		row.lane = segment->lane;
	asking->without_lane += segment->lane == UINT32_MAX;
	answer_row(asking->answer, &row, NULL);
}

static void
put_names(const struct phases_timeline *t, struct answer *answer)
{
	const struct string_table *phases = &t->names.phases;
	bool *occurs = memory_zero(phases->count, sizeof(*occurs));

	for (uint32_t i = 0; i < t->phases.count; i++)
		occurs[t->phases.items[i].phase] = true;
	answer_begin_table(answer, "phases");
	for (uint32_t i = 0; i < phases->count; i++)
		if (occurs[i])
			answer_row(answer,
			    &(struct name_row){ phases->names[i] }, NULL);
	free(occurs);
	answer_begin_table(answer, "models");
	for (uint32_t i = 0; i < t->names.models.count; i++)
		answer_row(answer,
		    &(struct name_row){ t->names.models.names[i] }, NULL);
}

static void
put_notes(const struct asking *asking)
{
	const struct phases_timeline *t = asking->of;

	if (t->open > 0)
		answer_note(asking->answer, "open", t->open,
		    "%" PRIu64 " without an end: drawn to the last record",
		    t->open);
	if (t->phases.left_out > 0)
		answer_note(asking->answer, "left_out", t->phases.left_out,
		    "left out: %" PRIu64 " without a start",
		    t->phases.left_out);
	if (asking->without_lane > 0)
		answer_note(asking->answer, "without_lane",
		    asking->without_lane,
		    "%" PRIu64 " have no lane: more than %d at once",
		    asking->without_lane, PHASES_LANES_MAX);
}

static void
put_all(const struct phases_timeline *t, const struct question_asked *asked,
    struct answer *answer)
{
	struct asking asking = { answer, t,
		asked->values->lanes ? PHASES_LANES : PHASES_CUT, 0 };
	char shown[300], words[QUESTION_CLOCK_BYTES];
	const char *clock;

	answer_head(answer, "model", answer_text(t->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "t0", answer_time(t->first_ns));
	answer_head(answer, "t1", answer_time(t->last_ns));
	answer_head(answer, "nodes", answer_count(t->phases.nodes.count));
	answer_title(answer, "what nodes of %s did when, by model %.*s%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    (int)t->model.bytes, t->model.at, clock);
	if (asking.form != PHASES_LANES)
		answer_hide_column(answer, "lane");
	phases_timeline_each(t, asking.form, put, &asking);
	if (!answer_is_for_people(answer))
		put_names(t, answer);
	put_notes(&asking);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);
	struct phases_timeline timeline;
	int rc = phases_timeline_read(&timeline, asked->source,
	    asked->partition, &query, question_model(asked->values), err);

	if (rc == 0)
		put_all(&timeline, asked, answer);
	phases_timeline_clear(&timeline);
	return rc;
}

const struct question question_timeline = { .word = "timeline",
	.summary = "what each node did when",
	.options = "model node start gap from to lanes shape sort top columns",
	.examples = "poolscope stats timeline -p 'acct$pool' --start now\n"
		    "poolscope stats timeline -n cn17 --lanes\n",
	.tables = tables,
	/* An open phase lasts until the last record of any kind. */
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.ask = ask };
