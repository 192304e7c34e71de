/*
 * question_slow - which nodes were slower than others, and in what.
 *
 * The time of a node is divided between phases and their keys as the bar of
 * `timeline` is: what an inner phase took is not of the outer one as well, so
 * that the excesses of a node add up.  What is usual is the median of the nodes
 * that were in this phase with this key; of too few of them that of the phase
 * with any key.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/phases/timeline.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/record/node_list.h"

enum { USUAL_NODES_MIN = 5, BY_PHASE = 1 };

struct row {
	struct text node, phase, key;
	int64_t time, usual, above;
	uint64_t of;
	enum answer_flag open;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member), "s"

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), NULL,
	    "the node; the slowest one comes first", false, NULL },
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct row, phase), NULL,
	    "the model and the phase", false, NULL },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key), NULL,
	    "of which image, job or other key; unknown: the phase has none",
	    false, NULL },
	{ "time", "TIME", SECONDS(time),
	    "how long the node was in it, without the phases inside", false,
	    NULL },
	{ "usual", "USUAL", SECONDS(usual),
	    "the median of the nodes that were in it", false, NULL },
	{ "above", "ABOVE", SECONDS(above), "time less usual", false, NULL },
	{ "of", "OF", ANSWER_AT_COUNT(struct row, of), NULL,
	    "how many times of nodes the median is of", false, NULL },
	{ "open", "OPEN", ANSWER_AT_FLAG(struct row, open), NULL,
	    "has the phase no end? Then the time is that until now, or as "
	    "timeline draws it",
	    false, NULL },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", NULL, ANSWER_TEXT, 0, NULL, "of which model the phases are",
	    false, NULL },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", NULL, ANSWER_COUNT, 0, NULL, "how many nodes there are",
	    false, NULL },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "slow", columns },
	{ "head", head }, { .name = NULL } };

/* The time of a node in a phase with a key. */
struct share {
	uint32_t phase, key, node, of;
	int64_t ns, usual_ns;
	bool is_open;
};

struct shares {
	struct share *at;
	uint32_t count, room;
	const struct phases_timeline *timeline; /* while they are compared */
};

static void
take_segment(void *arg, const struct phases_segment *segment)
{
	struct shares *shares = arg;

	shares->at = memory_grow(
	    shares->at, &shares->room, shares->count, sizeof(*shares->at));
	shares->at[shares->count++] = (struct share){ .phase = segment->phase,
		.key = segment->key,
		.node = segment->node,
		.ns = segment->end_ns - segment->begin_ns,
		.is_open = segment->is_open };
}

static int
by_place(const void *left, const void *right)
{
	const struct share *a = left, *b = right;

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The segments of a node in one phase with one key are one time. */
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
		}
	}
	shares->count = kept;
}

static int
by_length(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Room to judge: lengths to sort, and for each node the end of the last judged
 * that it was in. */
struct room {
	int64_t *ns;
	uint32_t *seen;
};

/* Give those of [first, end) that have none the median of them, if enough nodes
 * were in them. */
static void
judge(struct share *at, uint32_t first, uint32_t end, struct room *room)
{
	uint32_t count = end - first, nodes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct share *of = &at[first + i];

		room->ns[i] = of->ns;
		nodes += room->seen[of->node] != end;
		room->seen[of->node] = end;
	}
	if (nodes < USUAL_NODES_MIN)
		return;
	qsort(room->ns, count, sizeof(*room->ns), by_length);
	for (uint32_t i = first; i < end; i++) {
		if (at[i].of > 0)
			continue;
		at[i].usual_ns = room->ns[quantile_index(count, 50)];
		at[i].of = count;
	}
}

/* The end of those of one phase, and of one key if `by_key`. */
static uint32_t
group_end(const struct shares *shares, uint32_t first, bool by_key)
{
	const struct share *at = shares->at;
	uint32_t end = first;

	while (end < shares->count && at[end].phase == at[first].phase &&
	       (!by_key || at[end].key == at[first].key))
		end++;
	return end;
}

static void
find_usual(struct shares *shares, uint32_t nodes)
{
	struct room room = { .ns = memory_zero(
				 shares->count + 1, sizeof(*room.ns)) };

	for (int by_key = 1; by_key >= 0; by_key--) {
		room.seen = memory_zero(nodes + 1, sizeof(*room.seen));
		for (uint32_t first = 0, end; first < shares->count;
		     first = end) {
			end = group_end(shares, first, by_key != 0);
			judge(shares->at, first, end, &room);
		}
		free(room.seen);
	}
	free(room.ns);
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
make_rows(const struct shares *shares, struct text nodes, uint32_t *count)
{
	const struct phases_timeline *t = shares->timeline;
	struct row *rows = memory_zero(shares->count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; i < shares->count; i++) {
		const struct share *of = &shares->at[i];
		struct row row = { .node = t->phases.nodes.names[of->node],
			.phase = t->names.phases.names[of->phase],
			.key = t->phases.keys.names[of->key],
			.time = of->ns,
			.usual = of->usual_ns,
			.above = of->ns - of->usual_ns,
			.of = of->of,
			.open = of->is_open ? ANSWER_YES : ANSWER_NO };

		if (row.key.bytes == 0)
			row.key.at = NULL;
		if (of->of > 0 && row.above > 0 &&
		    (nodes.bytes == 0 || node_list_match(nodes, row.node)))
			rows[(*count)++] = row;
	}
	if (*count > 0)
		qsort(rows, *count, sizeof(*rows), by_excess);
	return rows;
}

static void
put_rows(const struct shares *shares, const struct question_asked *asked,
    struct answer *answer)
{
	bool all = question_by(&question_slow, asked->values) == BY_PHASE;
	uint32_t count;
	struct row *rows =
	    make_rows(shares, text_of(asked->values->window.node.list), &count);
	struct string_table seen;

	string_table_init(&seen);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t before = seen.count;

		(void)string_table_add(&seen, rows[i].node);
		if (all || seen.count > before)
			answer_row(answer, &rows[i], NULL);
	}
	string_table_clear(&seen);
	free(rows);
}

static void
put_all(const struct phases_timeline *t, struct shares *shares,
    const struct question_asked *asked, struct answer *answer)
{
	char shown[300], words[QUESTION_CLOCK_BYTES];
	char model[PHASES_MODEL_BYTES];
	uint64_t without = 0;
	const char *clock;

	shares->timeline = t;
	join(shares);
	find_usual(shares, t->phases.nodes.count);
	answer_head(answer, "model", answer_text(t->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "nodes", answer_count(t->phases.nodes.count));
	answer_title(answer,
	    "nodes of %s that were longer in a phase than the median of all, "
	    "by %s%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    phases_model_words(model, t->model), clock);
	put_rows(shares, asked, answer);
	for (uint32_t i = 0; i < shares->count; i++)
		without += shares->at[i].of == 0;
	if (without > 0)
		answer_note(answer, "without_usual", without,
		    "not judged: %" PRIu64
		    " time%s in phases that fewer than %d nodes were in",
		    without, without == 1 ? "" : "s", USUAL_NODES_MIN);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);
	struct phases_timeline timeline;
	struct shares shares = { .at = NULL };
	int rc;

	/* What is usual needs all. */
	query.node = (struct text){ NULL, 0 };
	rc = phases_timeline_read(&timeline, asked->source, asked->partition,
	    &query, asked->jobs, question_model(asked->values), err);
	if (rc == 0) {
		phases_timeline_each(&timeline, PHASES_CUT, PHASES_BY_NAME,
		    take_segment, &shares);
		put_all(&timeline, &shares, asked, answer);
	}
	free(shares.at);
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
