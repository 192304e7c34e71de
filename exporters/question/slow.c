/*
 * question_slow - which nodes were slower than others, and in what.
 *
 * The time of a node is divided between phases and their keys as the bar of
 * `timeline` is: what an inner phase took is not of the outer one as well, so
 * that the excesses of a node add up.  usual.h says what is usual: its values
 * are the times of nodes in a start, of phases that ended.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/phases/timeline.h"
#include "exporters/phases/usual.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"
#include "proto/record/node_list.h"

enum { BY_PHASE = 1 };

struct row {
	struct text node, phase, key, usual_of;
	int64_t time, usual, above;
	uint64_t of;
	enum answer_flag open, outer;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "the node; the slowest one comes first" },
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct row, phase),
	    "the model and the phase" },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key),
	    "of which image, job or other key; unknown: the phase has none" },
	{ "time", "TIME", SECONDS(time),
	    "how long the node was in it, without the phases inside" },
	{ "usual", "USUAL", SECONDS(usual),
	    "the median of the times of nodes in it, in the last starts" },
	{ "usual_of", NULL, ANSWER_AT_TEXT(struct row, usual_of),
	    "of what that is: this key, or the phase with any key" },
	{ "above", "ABOVE", SECONDS(above), "time less usual" },
	{ "of", "OF", ANSWER_AT_COUNT(struct row, of),
	    "how many times of nodes the median is of" },
	{ "open", "OPEN", ANSWER_AT_FLAG(struct row, open),
	    "has the phase no end? Then it lasts at least so long: to the last "
	    "record of the node, or to where timeline ends it before" },
	{ "outer", NULL, ANSWER_AT_FLAG(struct row, outer),
	    "did other phases begin in it? Their time is not counted here" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes there are" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "slow", columns },
	{ "head", head }, { .name = NULL } };

/* The time of a node in a phase with a key, in a start. */
struct share {
	uint32_t phase, key, node, start;
	int64_t ns;
	bool is_open, is_outer;
};

struct shares {
	struct share *at;
	uint32_t count, room;
	const struct phases_timeline *timeline;
	struct usual_starts starts;
	struct usual_values usual;
	uint64_t without; /* that could not be judged */
};

static void
take_segment(void *arg, const struct phases_segment *segment)
{
	struct shares *shares = arg;

	*MEMORY_ADD(shares->at, shares->room, shares->count) =
	    (struct share){ .phase = segment->phase,
		    .key = segment->key,
		    .node = segment->node,
		    .start = usual_start_of(
			&shares->starts, segment->item->begin_ns),
		    .ns = segment->end_ns - segment->begin_ns,
		    .is_open = segment->is_open,
		    .is_outer = segment->begin_ns != segment->item->begin_ns ||
				segment->end_ns != segment->item->end_ns };
}

static int
by_place(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The segments of a node in one phase with one key are one time, of a start. */
static void
join(struct shares *shares)
{
	uint32_t kept = 0;

	if (shares->count > 0)
		qsort(shares->at, shares->count, sizeof(*shares->at), by_place);
	for (uint32_t i = 0; i < shares->count; i++) {
		struct share *last = &shares->at[kept - (kept > 0)];
		const struct share *next = &shares->at[i];

		if (kept == 0 || by_place(last, next) != 0) {
			shares->at[kept++] = *next;
		} else {
			last->ns += next->ns;
			last->is_open = last->is_open || next->is_open;
			last->is_outer = last->is_outer || next->is_outer;
		}
	}
	shares->count = kept;
}

static void
take_timeline(struct shares *shares, const struct phases_timeline *timeline)
{
	shares->timeline = timeline;
	shares->count = 0;
	phases_timeline_each(
	    timeline, PHASES_CUT, PHASES_BY_NAME, take_segment, shares);
	join(shares);
}

static struct text
phase_of(const struct shares *shares, const struct share *share)
{
	return shares->timeline->names.phases.names[share->phase];
}

static struct text
key_of(const struct shares *shares, const struct share *share)
{
	return shares->timeline->phases.keys.names[share->key];
}

/* ---- what is usual ---- */

static void
add_usual(struct shares *shares)
{
	for (uint32_t i = 0; i < shares->count; i++) {
		const struct share *share = &shares->at[i];

		if (!share->is_open &&
		    (share->start > 0 || shares->starts.count == 0))
			usual_add(&shares->usual, phase_of(shares, share),
			    key_of(shares, share), share->ns);
	}
}
/* ---- rows ---- */

/* The greatest first. */
static int
by_excess(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->above != b->above)
		return a->above > b->above ? -1 : 1;
	if (!text_equal(a->node, b->node))
		return text_compare_natural(a->node, b->node);
	return text_equal(a->phase, b->phase)
		   ? text_compare(a->key, b->key)
		   : text_compare(a->phase, b->phase);
}

static struct row *
make_rows(struct shares *shares, struct text nodes, uint32_t *count)
{
	struct row *rows = memory_zero(shares->count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; i < shares->count; i++) {
		const struct share *of = &shares->at[i];
		struct row row = {
			.node = shares->timeline->phases.nodes.names[of->node],
			.phase = phase_of(shares, of),
			.key = key_of(shares, of),
			.time = of->ns,
			.open = of->is_open ? ANSWER_YES : ANSWER_NO,
			.outer = of->is_outer ? ANSWER_YES : ANSWER_NO
		};
		struct usual usual =
		    usual_find(&shares->usual, row.phase, row.key);

		if (row.key.bytes == 0)
			row.key.at = NULL;
		row.usual = usual.median_ns;
		row.usual_of = text_of(usual.is_of_key ? "key" : "phase");
		row.above = row.time - row.usual;
		row.of = usual.count;
		shares->without += usual.count == 0;
		if (usual.count > 0 && row.above > 0 &&
		    (nodes.bytes == 0 || node_list_match(nodes, row.node)))
			rows[(*count)++] = row;
	}
	if (*count > 0)
		qsort(rows, *count, sizeof(*rows), by_excess);
	return rows;
}

static void
put_rows(struct shares *shares, const struct question_asked *asked,
    struct answer *answer)
{
	bool all = question_by(&question_slow, asked->values) == BY_PHASE;
	uint32_t count;
	struct row *rows =
	    make_rows(shares, text_of(asked->values->window.node.list), &count);
	struct string_table seen;
	uint64_t open = 0;

	string_table_init(&seen);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t before = seen.count;

		(void)string_table_add(&seen, rows[i].node);
		if (!all && seen.count == before)
			continue;
		answer_row(answer, &rows[i], NULL);
		open += rows[i].open == ANSWER_YES;
	}
	string_table_clear(&seen);
	free(rows);
	if (open > 0)
		answer_note(answer, "open", open,
		    "%" PRIu64 " without an end: at least so long, to the last "
		    "record of the node",
		    open);
}

static void
put_all(struct shares *shares, const struct question_asked *asked,
    struct answer *answer)
{
	const struct phases_timeline *t = shares->timeline;
	char shown[300], words[QUESTION_CLOCK_BYTES];
	char model[PHASES_MODEL_BYTES];
	const char *clock;

	answer_head(answer, "model", answer_text(t->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "nodes", answer_count(t->phases.nodes.count));
	answer_title(answer,
	    "nodes of %s that were longer in a phase than nodes usually are, "
	    "by %s%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    phases_model_words(model, t->model), clock);
	put_rows(shares, asked, answer);
	if (shares->without > 0)
		answer_note(answer, "without_usual", shares->without,
		    "not judged: %" PRIu64
		    " time%s in phases of which fewer than %d are known",
		    shares->without, shares->without == 1 ? "" : "s",
		    USUAL_VALUES_MIN);
}

/* ---- reading ---- */

/* What is usual needs all nodes. */
static int
read_window(struct phases_timeline *timeline,
    const struct question_asked *asked, const char *model, int64_t from_ns,
    int64_t to_ns, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);

	query.node = (struct text){ NULL, 0 };
	query.from_ns = from_ns;
	query.to_ns = to_ns;
	return phases_timeline_read(timeline, asked->source, asked->partition,
	    &query, asked->jobs, model, err);
}

/* The last starts that were not asked for.  That nothing began there is an
 * answer. */
static int
read_usual(struct shares *shares, const struct question_asked *asked,
    const char *model, int64_t from_ns, int64_t to_ns, struct err *err)
{
	struct phases_timeline timeline = { .open = 0 };
	int rc = 0;

	if (from_ns >= to_ns)
		return 0;
	if (read_window(&timeline, asked, model, from_ns, to_ns, err) == 0) {
		take_timeline(shares, &timeline);
		add_usual(shares);
	} else if (source_has_failed(asked->source)) {
		rc = -1;
	} else {
		err_clear(err);
	}
	phases_timeline_clear(&timeline);
	return rc;
}
/* What was asked for and began before the last starts is of many: there it is
 * not known what a node took in one. */
static int64_t
begin_of(const struct usual_starts *starts, int64_t from_ns, int64_t to_ns)
{
	int64_t begin_ns = starts->count > 0 ? starts->begin_ns[0] : from_ns;

	return from_ns < begin_ns && begin_ns < to_ns ? begin_ns : from_ns;
}

static int
compare_all(struct shares *shares, struct phases_timeline *timeline,
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct usual_starts *starts = &shares->starts;
	int64_t to_ns = asked->values->window.to_ns;
	int64_t asked_ns = asked->values->window.from_ns;
	int64_t from_ns = begin_of(starts, asked_ns, to_ns), first_ns;
	char model[NAME_BYTES_MAX + 1];
	int rc;

	if (read_window(timeline, asked, question_model(asked->values), from_ns,
		to_ns, err) != 0)
		return -1;
	snprintf(model, sizeof(model), "%.*s", (int)timeline->model.bytes,
	    timeline->model.at);
	first_ns = starts->count > 0 ? starts->begin_ns[0] : from_ns;
	rc = read_usual(shares, asked, model, first_ns,
	    from_ns < TIME_MAX_NS ? from_ns : TIME_MAX_NS, err);
	if (rc == 0 && starts->count > 0)
		rc = read_usual(shares, asked, model,
		    to_ns > first_ns ? to_ns : first_ns, TIME_MAX_NS, err);
	if (rc != 0)
		return -1;
	take_timeline(shares, timeline);
	add_usual(shares);
	usual_sort(&shares->usual);
	put_all(shares, asked, answer);
	if (from_ns != asked_ns)
		answer_note(answer, "older_starts", starts->count,
		    "only the last %" PRIu32 " starts are compared",
		    starts->count);
	return 0;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct phases_timeline timeline = { .open = 0 };
	struct shares shares = { .at = NULL };
	int rc;

	usual_init(&shares.usual);
	rc = usual_starts_read(
	    &shares.starts, asked->source, asked->partition, TIME_MAX_NS, err);
	if (rc == 0)
		rc = compare_all(&shares, &timeline, asked, answer, err);
	free(shares.at);
	usual_clear(&shares.usual);
	phases_timeline_clear(&timeline);
	return rc;
}

const struct question question_slow = { .word = "slow",
	.summary = "which nodes were slower than others, and in what",
	.options = "by model node job user start gap from to sort top "
		   "columns",
	.examples = "poolscope stats slow -p 'acct$pool' --top 5\n"
		    "poolscope stats slow -n cn037 --by phase\n",
	.tables = tables,
	.is_of_start = true,
	.by = "node|phase", /* BY_PHASE */
	.is_of_records = true,
	/* An open phase lasts until the last record of any kind. */
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.ask = ask };
