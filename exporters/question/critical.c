/*
 * question_critical - what a pool waited for until it was ready: the critical
 * path, a row a piece.
 *
 * waits.h says what a phase waited for, path.h how the path is walked.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/critical/path.h"
#include "exporters/question/question.h"

struct row {
	int64_t begin, offset, duration;
	struct text kind, node, phase, key;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member), "s"
#define TEXT(member)    ANSWER_AT_TEXT(struct row, member), NULL

static const struct answer_column columns[] = {
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct row, begin), NULL,
	    "when the piece begins; it lasts until the next one", ANSWER_SPARE,
	    NULL },
	{ "offset", "AFTER", SECONDS(offset), "the same, after the start",
	    false, NULL },
	{ "duration", "DURATION", SECONDS(duration),
	    "how long it is; all together are the time from the start until "
	    "the pool was ready",
	    false, NULL },
	{ "kind", "KIND", TEXT(kind),
	    "began: until the node began; wait: until the phase began, "
	    "though what it waits for had ended; in: the phase itself; place: "
	    "the same, of the one that had the place; end: until the phase "
	    "ended, after the phases inside",
	    false, NULL },
	{ "node", "NODE", TEXT(node), "the node", false, NULL },
	{ "phase", "PHASE", TEXT(phase), "the model and the phase", false,
	    NULL },
	{ "key", "KEY", TEXT(key),
	    "of which image, job or other key; unknown: the phase has none",
	    false, NULL },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", NULL, ANSWER_TEXT, 0, NULL, "of which model the phases are",
	    false, NULL },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", NULL, ANSWER_COUNT, 0, NULL, "how many nodes began", false,
	    NULL },
	{ "ready", NULL, ANSWER_COUNT, 0, NULL, "how many became ready", false,
	    NULL },
	{ "duration", NULL, ANSWER_DURATION, 0, "s",
	    "from the start until the last of these was ready", false, NULL },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "critical", columns },
	{ "head", head }, { .name = NULL } };

struct asking {
	const struct question_asked *asked;
	struct answer *answer;
	struct phases_names names;
	struct phases_read phases;
	struct critical_rules rules;
	struct critical_waits waits;
	struct critical_path path;
	struct starts starts;
	const struct start *start;
	struct text model;
};

/* ---- rows ---- */

static void
put_piece(const struct asking *asking, const struct critical_piece *piece)
{
	const struct critical_item *item = &asking->waits.at[piece->item];
	struct text key = asking->phases.keys.names[item->key];
	struct row row = { .begin = piece->from_ns,
		.offset = piece->from_ns - asking->start->begin_ns,
		.duration = piece->to_ns - piece->from_ns,
		.kind = text_of(critical_kind_words[piece->kind]),
		.node = asking->phases.nodes.names[item->node],
		.phase = asking->names.phases.names[item->phase],
		.key = key.bytes > 0 ? key : (struct text){ NULL, 0 } };

	if (piece->kind == CRITICAL_BEGAN)
		row.phase = row.key = (struct text){ NULL, 0 };
	answer_row(asking->answer, &row, NULL);
}

static void
put_notes(const struct asking *asking)
{
	const struct start *start = asking->start;

	if (start->ready < start->nodes)
		answer_note(asking->answer, "not_ready",
		    start->nodes - start->ready,
		    "%" PRIu32 " of %" PRIu32
		    " nodes did not become ready: the path is that of the "
		    "last one that did",
		    start->nodes - start->ready, start->nodes);
	if (!asking->rules.any)
		answer_note(asking->answer, "no_words", ANSWER_NO_COUNT,
		    "the model does not say what phases wait for (after, "
		    "after_any, end_after: poolscope-model(5)), so the path is "
		    "that of one node");
	if (asking->waits.over > 0)
		answer_note(asking->answer, "over_places", asking->waits.over,
		    "%" PRIu64
		    " phases began though the model says that no place was "
		    "free: they count as if there had been one",
		    asking->waits.over);
}

static void
put_all(const struct asking *asking)
{
	char words[QUESTION_CLOCK_BYTES], shown[300];
	char model[PHASES_MODEL_BYTES];
	const struct start *start = asking->start;
	struct answer *answer = asking->answer;
	const char *clock;

	answer_head(answer, "model", answer_text(asking->model));
	clock = question_put_clock(words, asking->asked, answer);
	answer_head(answer, "nodes", answer_count(start->nodes));
	answer_head(answer, "ready", answer_count(start->ready));
	answer_head(answer, "duration",
	    answer_duration(start->last_ready_ns - start->begin_ns));
	answer_title(answer,
	    "what %s waited for until it was ready, by %s%s",
	    text_quote(shown, sizeof(shown), asking->asked->partition),
	    phases_model_words(model, asking->model), clock);
	for (uint32_t i = 0; i < asking->path.count; i++)
		put_piece(asking, &asking->path.at[i]);
	put_notes(asking);
}

/* ---- the start ---- */

static int
find_start(struct asking *asking, struct err *err)
{
	const struct question_values *values = asking->asked->values;
	const struct starts_query query = { .model = question_model(values),
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.gap_ns = values->starts.gap_ns };

	if (starts_read(&asking->starts, asking->asked->source,
		asking->asked->partition, &query, err) != 0)
		return -1;
	asking->start = &asking->starts.at[asking->starts.count - 1];
	if (asking->start->ready == 0)
		return err_set(err,
		    "no node of the start became ready: there is no path yet "
		    "(poolscope stats slow)");
	return 0;
}

/* The required phase that ended when the pool was ready. */
static uint32_t
find_last(const struct asking *asking)
{
	const struct critical_waits *waits = &asking->waits;

	for (uint32_t i = 0; i < waits->count; i++)
		if (waits->at[i].end_ns == asking->start->last_ready_ns &&
		    asking->rules.is_required[waits->at[i].phase])
			return i;
	return CRITICAL_NONE;
}

static int
walk(struct asking *asking, struct err *err)
{
	uint32_t first = CRITICAL_NONE, last;

	critical_waits_find(&asking->waits, &asking->phases, &asking->rules);
	last = find_last(asking);
	for (uint32_t i = 0; i < asking->names.begins.count; i++)
		if (text_equal(
			text_before(asking->names.begins.names[i], ':'),
			asking->model))
			(void)string_table_find(&asking->names.phases,
			    asking->names.begins.names[i], &first);
	if (last == CRITICAL_NONE)
		return err_set(err,
		    "the phase that was ready last is not there any more: ask "
		    "again");
	critical_path_walk(&asking->path, &asking->waits,
	    asking->start->begin_ns, last, first);
	return 0;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = { .asked = asked, .answer = answer };
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);
	int rc = find_start(&asking, err);

	if (rc == 0)
		rc = phases_read_model(&asking.phases, &asking.names,
		    asked->source, asked->partition, &query,
		    asking.starts.model, PHASES_TIMELINE, &asking.model, err);
	if (rc == 0)
		rc = critical_rules_read(&asking.rules, &asking.names,
		    asked->source, asked->partition, err);
	if (rc == 0)
		rc = walk(&asking, err);
	if (rc == 0)
		put_all(&asking);
	critical_path_clear(&asking.path);
	critical_waits_clear(&asking.waits);
	critical_rules_clear(&asking.rules);
	phases_read_clear(&asking.phases);
	phases_names_clear(&asking.names);
	starts_clear(&asking.starts);
	return rc;
}

const struct question question_critical = { .word = "critical",
	.summary = "what a pool waited for until it was ready",
	.options = "model start gap from to sort top columns",
	.examples = "poolscope stats critical -p 'acct$pool'\n"
		    "poolscope stats critical --start 2026-11-28T07:15:50Z\n",
	.tables = tables,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.ask = ask };
