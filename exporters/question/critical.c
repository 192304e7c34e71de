/*
 * question_critical - what a pool waited for until it was ready: the critical
 * path, a row a piece.
 *
 * waits.h says what a phase waits for, path.h how the path is walked.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/critical/path.h"
#include "exporters/critical/start.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"

/* A drag goes through all phases of the start, and a path may have as many: at
 * some 20 ns each, a second of them. */
enum { DRAG_PHASES_MAX = 50000000 };

struct row {
	int64_t start, begin, offset, duration, drag;
	struct text kind, node, phase, key;
};

#define SECONDS(type, member) ANSWER_AT_DURATION(struct type, member)
#define TEXT(type, member)    ANSWER_AT_TEXT(struct type, member)

static const struct answer_column columns[] = {
	{ "start", NULL, ANSWER_AT_TIME(struct row, start),
	    "of which start it is" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct row, begin),
	    "when the piece begins; it lasts until the next one",
	    .traits = ANSWER_SPARE },
	{ "offset", "AFTER", SECONDS(row, offset),
	    "the same, after the start" },
	{ "duration", "DURATION", SECONDS(row, duration),
	    "how long it is; all together are the time from the start until "
	    "the pool was ready" },
	{ "kind", "KIND", TEXT(row, kind),
	    "began: until the node began; wait: until the phase began, though "
	    "what it waits for had ended; in: the phase itself; place: the "
	    "same, of the one that had the place; end: until the phase ended, "
	    "after the phases inside" },
	{ "node", "NODE", TEXT(row, node), "the node" },
	{ "phase", "PHASE", TEXT(row, phase), "the model and the phase" },
	{ "key", "KEY", TEXT(row, key),
	    "of which image, job or other key; unknown: the phase has none" },
	{ "drag", "DRAG", SECONDS(row, drag),
	    "how much earlier the pool would have been ready if this phase had "
	    "taken no time; unknown: the piece is no phase, or too many are "
	    "longer" },
	{ .key = NULL },
};

struct sum_row {
	struct text phase, key;
	int64_t duration, slack;
	uint64_t starts;
};

static const struct answer_column sum_columns[] = {
	{ "phase", "PHASE", TEXT(sum_row, phase), "the model and the phase" },
	{ "key", "KEY", TEXT(sum_row, key),
	    "of which key; unknown: the phase has none" },
	{ "duration", "ON PATH", SECONDS(sum_row, duration),
	    "how long the paths of all these starts were in it" },
	{ "starts", "STARTS", ANSWER_AT_COUNT(struct sum_row, starts),
	    "of how many starts it is on the path" },
	{ "slack", "SLACK", SECONDS(sum_row, slack),
	    "how much longer any one of them could at least have been in the "
	    "newest of the starts before the pool were ready later; unknown: "
	    "nothing waits for them" },
	{ .key = NULL },
};

/* A node, over all starts. */
struct node_row {
	struct text node;
	int64_t duration;
	uint64_t starts;
};

static const struct answer_column node_columns[] = {
	{ "node", "NODE", TEXT(node_row, node), "the node" },
	{ "duration", "ON PATH", SECONDS(node_row, duration),
	    "how long the paths of all these starts were on it, also until it "
	    "began; those of all nodes are the durations of all pieces" },
	{ "starts", "STARTS", ANSWER_AT_COUNT(struct node_row, starts),
	    "of how many starts it is on the path" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT),
	    "how many nodes began in the newest of the starts" },
	{ "ready", ANSWER_HEAD(ANSWER_COUNT), "how many became ready" },
	{ "duration", ANSWER_HEAD(ANSWER_DURATION),
	    "from that start until the pool was ready: all its nodes, or as "
	    "many as the model's ready_share says; if too few became so, the "
	    "last of them",
	    "s" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "critical", columns },
	{ "phases", sum_columns }, { "by_node", node_columns },
	{ "head", head }, { .name = NULL } };

/* A phase with a key, over all starts. */
struct sum {
	struct sum_row row;
	uint32_t seen; /* the start that was counted last, + 1 */
};

struct node_sum {
	struct node_row row;
	uint32_t seen; /* as above */
};

struct asking {
	const struct question_asked *asked;
	struct answer *answer;
	struct critical_start of; /* the one that is looked at */
	const struct start *start;
	uint32_t number; /* of it, in the answer */
	bool is_newest;
	struct string_table texts; /* of the sums: "phase\nkey" */
	struct sum *sums;
	uint32_t room;
	struct string_table nodes;
	struct node_sum *of_nodes;
	uint32_t node_room;
	uint64_t over, not_ready;
	uint64_t drag_phases; /* that drags may still go through */
	/* Of this start longer pieces have a drag, and that many as long ones.
	 */
	int64_t dragged_ns;
	uint64_t dragged_equal;
	uint64_t no_drag;
};

/* ---- rows ---- */

static struct text
phase_of(const struct asking *asking, const struct critical_item *item)
{
	return asking->of.names.phases.names[item->phase];
}

/* A key that is none is unknown. */
static struct text
key_of(const struct asking *asking, const struct critical_item *item)
{
	struct text key = asking->of.phases.keys.names[item->key];

	return key.bytes > 0 ? key : (struct text){ NULL, 0 };
}

static struct sum *
sum_of(struct asking *asking, const struct critical_item *item)
{
	char name[4 * NAME_BYTES_MAX + 8];
	struct text phase = phase_of(asking, item), key = key_of(asking, item);
	uint32_t before = asking->texts.count, number;
	struct text whole;
	struct sum *sum;

	whole = (struct text){ name,
		(uint32_t)snprintf(name, sizeof(name), "%.*s\n%.*s",
		    (int)phase.bytes, phase.at, (int)key.bytes,
		    key.bytes > 0 ? key.at : "") };
	number = string_table_add(&asking->texts, whole);
	MEMORY_GROW(asking->sums, asking->room, number);
	sum = &asking->sums[number];
	if (asking->texts.count == before)
		return sum;
	whole = asking->texts.names[number];
	*sum = (struct sum){ .row = { .phase = text_before(whole, '\n'),
				 .slack = ANSWER_NO_NS } };
	if (key.bytes > 0)
		sum->row.key = text_after(whole, '\n');
	return sum;
}

static void
add_to_sum(struct asking *asking, const struct critical_item *item,
    int64_t duration_ns)
{
	struct sum *sum = sum_of(asking, item);

	sum->row.duration += duration_ns;
	sum->row.starts += sum->seen != asking->number + 1;
	sum->seen = asking->number + 1;
}

static void
add_to_node(struct asking *asking, struct text node, int64_t duration_ns)
{
	uint32_t before = asking->nodes.count;
	uint32_t number = string_table_add(&asking->nodes, node);
	struct node_sum *sum;

	MEMORY_GROW(asking->of_nodes, asking->node_room, number);
	sum = &asking->of_nodes[number];
	if (asking->nodes.count > before)
		*sum = (struct node_sum){ .row.node =
					      asking->nodes.names[number] };
	sum->row.duration += duration_ns;
	sum->row.starts += sum->seen != asking->number + 1;
	sum->seen = asking->number + 1;
}

static int
by_length(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a < b) - (a > b);
}

static bool
may_drag(const struct critical_piece *piece)
{
	return piece->kind == CRITICAL_IN || piece->kind == CRITICAL_PLACE;
}

/* If there are too many pieces, the longest ones have a drag. */
static void
choose_drags(struct asking *asking, const struct critical_path *path)
{
	uint64_t most = asking->drag_phases / (asking->of.waits.count + 1);
	int64_t *lengths_ns =
	    memory_zero((size_t)path->count + 1, sizeof(*lengths_ns));
	uint32_t count = 0;

	for (uint32_t i = 0; i < path->count; i++)
		if (may_drag(&path->at[i]))
			lengths_ns[count++] =
			    path->at[i].to_ns - path->at[i].from_ns;
	qsort(lengths_ns, count, sizeof(*lengths_ns), by_length);
	asking->dragged_ns = most < count ? lengths_ns[most] : 0;
	asking->dragged_equal = 0;
	for (uint64_t i = most;
	     i-- > 0 && most < count && lengths_ns[i] == asking->dragged_ns;)
		asking->dragged_equal++;
	free(lengths_ns);
}

static int64_t
drag_of(struct asking *asking, const struct critical_piece *piece)
{
	int64_t length_ns = piece->to_ns - piece->from_ns;

	if (length_ns < asking->dragged_ns ||
	    (length_ns == asking->dragged_ns && asking->dragged_equal == 0)) {
		asking->no_drag++;
		return ANSWER_NO_NS;
	}
	asking->dragged_equal -= length_ns == asking->dragged_ns;
	asking->drag_phases -= asking->of.waits.count;
	return critical_start_drag(&asking->of, piece->item);
}

static void
put_piece(struct asking *asking, const struct critical_piece *piece)
{
	const struct critical_item *item = &asking->of.waits.at[piece->item];
	struct row row = { .start = asking->start->begin_ns,
		.begin = piece->from_ns,
		.offset = piece->from_ns - asking->start->begin_ns,
		.duration = piece->to_ns - piece->from_ns,
		.drag = ANSWER_NO_NS,
		.kind = text_of(critical_kind_words[piece->kind]),
		.node = asking->of.phases.nodes.names[item->node],
		.phase = phase_of(asking, item),
		.key = key_of(asking, item) };

	if (piece->kind == CRITICAL_BEGAN)
		row.phase = row.key = (struct text){ NULL, 0 };
	else
		add_to_sum(asking, item, row.duration);
	add_to_node(asking, row.node, row.duration);
	if (may_drag(piece) && !asking->asked->values->no_drags)
		row.drag = drag_of(asking, piece);
	answer_row(asking->answer, &row, NULL);
}

static void
put_slack(struct asking *asking)
{
	int64_t *slack_ns =
	    critical_run_slack(&asking->of.run, &asking->of.waits);

	for (uint32_t i = 0; i < asking->of.waits.count; i++) {
		struct sum *sum;

		if (slack_ns[i] == INT64_MAX)
			continue;
		sum = sum_of(asking, &asking->of.waits.at[i]);
		if (sum->row.slack == ANSWER_NO_NS ||
		    slack_ns[i] < sum->row.slack)
			sum->row.slack = slack_ns[i];
	}
	free(slack_ns);
}

static void
put_notes(const struct asking *asking)
{
	if (asking->not_ready > 0)
		answer_note(asking->answer, "not_ready", asking->not_ready,
		    "%" PRIu64
		    " node%s did not become ready: the path is that of the "
		    "last one that did",
		    asking->not_ready, asking->not_ready == 1 ? "" : "s");
	if (!asking->of.rules.any)
		answer_note(asking->answer, "no_words", ANSWER_NO_COUNT,
		    "the model does not say what phases wait for (after, "
		    "after_any, end_after, places: poolscope-model(5)), so "
		    "that the path is that of one node");
	if (asking->over > 0)
		answer_note(asking->answer, "over_places", asking->over,
		    "%" PRIu64
		    " phase%s began though the model says that no place was "
		    "free: each counts as if there had been one",
		    asking->over, asking->over == 1 ? "" : "s");
	if (asking->no_drag > 0)
		answer_note(asking->answer, "no_drag", asking->no_drag,
		    "%" PRIu64
		    " piece%s of a path of many phases without a drag: longer "
		    "ones have it",
		    asking->no_drag, asking->no_drag == 1 ? "" : "s");
}

static void
put_head(const struct asking *asking)
{
	char words[QUESTION_CLOCK_BYTES], shown[300];
	char model[PHASES_MODEL_BYTES];
	const struct start *start = asking->start;
	struct answer *answer = asking->answer;
	const char *clock;

	answer_head(answer, "model", answer_text(asking->of.model));
	clock = question_put_clock(words, asking->asked, answer);
	answer_head(answer, "nodes", answer_count(start->nodes));
	answer_head(answer, "ready", answer_count(start->ready));
	answer_head(answer, "duration",
	    answer_duration(start_until(start) - start->begin_ns));
	answer_title(answer, "what %s waited for until it was ready, by %s%s",
	    text_quote(shown, sizeof(shown), asking->asked->partition),
	    phases_model_words(model, asking->of.model), clock);
}

/* ---- starts ---- */

static void
put_start(struct asking *asking)
{
	struct critical_path path = { .at = NULL };

	if (asking->is_newest)
		put_head(asking);
	critical_path_walk(&path, &asking->of.run, asking->start->begin_ns);
	choose_drags(asking, &path);
	for (uint32_t i = 0; i < path.count; i++)
		put_piece(asking, &path.at[i]);
	critical_path_clear(&path);
	asking->over += asking->of.run.over;
	if (asking->start->ready_ns == START_UNKNOWN)
		asking->not_ready +=
		    asking->start->nodes - asking->start->ready;
	if (asking->is_newest)
		put_slack(asking);
}

/* The newest first. */
static int
put_starts(struct asking *asking, const struct starts *starts, struct err *err)
{
	const struct question_values *values = asking->asked->values;
	uint32_t left =
	    values->runs.newest > 0 ? (uint32_t)values->runs.newest : 1;
	int64_t to_ns = values->window.to_ns;

	for (uint32_t i = starts->count; i-- > 0 && left > 0;
	     to_ns = starts->at[i].begin_ns) {
		asking->start = &starts->at[i];
		if (asking->start->ready == 0)
			continue;
		critical_start_clear(&asking->of);
		if (critical_start_read(&asking->of, asking->asked->source,
			asking->asked->partition, starts, asking->start, to_ns,
			err) != 0)
			return -1;
		asking->is_newest = asking->number == 0;
		put_start(asking);
		asking->number++;
		left--;
	}
	return asking->number > 0
		   ? 0
		   : err_set(err,
			 "no node of the start became ready: there is no path "
			 "yet (poolscope stats slow)");
}

static void
put_sums(struct asking *asking)
{
	answer_begin_table(asking->answer, "phases");
	for (uint32_t i = 0; i < asking->texts.count; i++)
		answer_row(asking->answer, &asking->sums[i].row, NULL);
	answer_begin_table(asking->answer, "by_node");
	for (uint32_t i = 0; i < asking->nodes.count; i++)
		answer_row(asking->answer, &asking->of_nodes[i].row, NULL);
	put_notes(asking);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = {
		.asked = asked, .answer = answer, .drag_phases = DRAG_PHASES_MAX
	};
	const struct question_values *values = asked->values;
	struct starts_query query = question_starts_query(values, false);
	struct starts starts;
	int rc;

	if (values->runs.newest > 1)
		query.from_ns = TIME_MIN_NS;
	string_table_init(&asking.texts);
	string_table_init(&asking.nodes);
	rc = starts_read(&starts, asked->source, asked->partition, &query, err);
	if (rc == 0)
		rc = put_starts(&asking, &starts, err);
	if (rc == 0)
		put_sums(&asking);
	critical_start_clear(&asking.of);
	starts_clear(&starts);
	free(asking.sums);
	free(asking.of_nodes);
	string_table_clear(&asking.texts);
	string_table_clear(&asking.nodes);
	return rc;
}

const struct question question_critical = { .word = "critical",
	.summary = "what a pool waited for until it was ready",
	.options = "model start newest gap from to sort top columns",
	.examples = "poolscope stats critical -p 'acct$pool'\n"
		    "poolscope stats critical --newest 20 --table phases "
		    "--sort duration\n",
	.tables = tables,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.ask = ask };
