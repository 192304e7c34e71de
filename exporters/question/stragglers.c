/*
 * question_stragglers - which nodes were slow in a start, what that cost, and
 * why.
 *
 * exporters/stragglers has who and why.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/question/straggler_ranks.h"
#include "exporters/stragglers/chronic.h"
#include "exporters/stragglers/stragglers.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"

struct row {
	struct text node, phase, key, cause, why, metric, unit, usual_of;
	int64_t begin, time, usual, lost, drag, explained;
	double share, value, peers;
	uint64_t of;
	enum answer_flag open;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member)
#define TEXT(member)    ANSWER_AT_TEXT(struct row, member)
#define NUMBER(member)  ANSWER_AT_NUMBER(struct row, member)

#define NODE_COLUMNS                                                           \
	{ "node", "NODE", TEXT(node), "the node" },                            \
	    { "phase", "PHASE", TEXT(phase),                                   \
		    "the model and the phase; of a node that began late the "  \
		    "one that it begins with" },                               \
	{                                                                      \
		"key", "KEY", TEXT(key),                                       \
		    "of which image, job or other key; unknown: the phase "    \
		    "has none"                                                 \
	}
#define CAUSE_COLUMNS                                                          \
	{ "cause", "CAUSE", TEXT(cause),                                       \
		"the kind of the cause; unknown: nothing that is measured "    \
		"differs; unmeasured: there are too few samples",              \
		.traits = ANSWER_SPARE },                                      \
	    { "share", "SHARE", ANSWER_AT_SHARE(struct row, share),            \
		    "which share of the lost time it explains",                \
		    .traits = ANSWER_SPARE },                                  \
	    { "why", "WHY", TEXT(why), "the same as a clause",                 \
		    .traits = ANSWER_CLAUSE },                                 \
	    { "metric", NULL, TEXT(metric),                                    \
		    "the metric that proves it; unknown: none does" },         \
	    { "value", NULL, NUMBER(value),                                    \
		    "what it was on the node in this time",                    \
		    .traits = ANSWER_IN_UNIT },                                \
	    { "peers", NULL, NUMBER(peers),                                    \
		    "the median of what it was on its peers, each in its own " \
		    "time of the phase",                                       \
		    .traits = ANSWER_IN_UNIT },                                \
	{                                                                      \
		"unit", NULL, TEXT(unit), "of both; 1: a share of the time"    \
	}

static const struct answer_column columns[] = {
	NODE_COLUMNS,
	{ "begin", NULL, ANSWER_AT_TIME(struct row, begin), "when it began" },
	{ "time", "TIME", SECONDS(time),
	    "how long it took; of a node that began late how long after the "
	    "start" },
	{ "usual", "USUAL", SECONDS(usual),
	    "the median of those that it is compared with" },
	{ "usual_of", NULL, TEXT(usual_of),
	    "of what that is: peers, in this start, or the node, in earlier "
	    "ones" },
	{ "of", NULL, ANSWER_AT_COUNT(struct row, of),
	    "how many times the median is of" },
	{ "lost", "LOST", SECONDS(lost), "time less usual",
	    .traits = ANSWER_SPARE },
	{ "drag", "DRAG", SECONDS(drag),
	    "how much earlier the pool would have been ready, had it taken its "
	    "usual time; unknown: the model does not say what waits for what" },
	CAUSE_COLUMNS,
	{ "open", NULL, ANSWER_AT_FLAG(struct row, open),
	    "has the phase no end? Then it lasts at least so long: to the last "
	    "record of the node, or to where timeline ends it before" },
	{ .key = NULL },
};

static const struct answer_column cause_columns[] = {
	NODE_COLUMNS,
	{ "explained", "EXPLAINED", SECONDS(explained),
	    "how much of the lost time it explains" },
	CAUSE_COLUMNS,
	{ .key = NULL },
};

struct chronic_row {
	struct text node;
	uint64_t starts, slow;
	int64_t lost;
	double chance;
	enum answer_flag drain;
};

#define COUNT(member) ANSWER_AT_COUNT(struct chronic_row, member)

static const struct answer_column chronic_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct chronic_row, node),
	    "a node that was slow in at least one start of --last" },
	{ "starts", "STARTS", COUNT(starts), "how many starts it was in" },
	{ "slow", "SLOW", COUNT(slow),
	    "in how many of them it was slower than others of the start" },
	{ "lost", "LOST", ANSWER_AT_DURATION(struct chronic_row, lost),
	    "what its phases lost in all of them" },
	{ "chance", "CHANCE", ANSWER_AT_NUMBER(struct chronic_row, chance),
	    "how likely a node with which nothing is wrong is slow that "
	    "often" },
	{ "drain", "DRAIN", ANSWER_AT_FLAG(struct chronic_row, drain),
	    "is that less than chance allows? --drain prints these names" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes there are" },
	{ "ranks", ANSWER_HEAD(ANSWER_COUNT),
	    "with --work: how many ranks there are" },
	{ "steps", ANSWER_HEAD(ANSWER_COUNT),
	    "with --work: how many steps there are of two ranks or more" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "stragglers", columns },
	{ "causes", cause_columns }, { "chronic", chronic_columns },
	{ "ranks", straggler_rank_columns }, { "head", head },
	{ .name = NULL } };

/* ---- rows ---- */

static struct row
row_of(const struct straggler *straggler)
{
	return (struct row){ .node = straggler->node,
		.phase = straggler->phase,
		.key = straggler->key,
		.begin = straggler->begin_ns,
		.time = straggler->time_ns,
		.usual = straggler->usual_ns,
		.usual_of = text_of(straggler->is_of_node ? "node" : "peers"),
		.of = straggler->of,
		.lost = straggler->lost_ns,
		.drag = straggler->drag_ns,
		.explained = ANSWER_NO_NS,
		.share = NAN,
		.value = NAN,
		.peers = NAN,
		.open = straggler->is_open ? ANSWER_YES : ANSWER_NO };
}

static void
add_cause(struct row *row, const struct straggler_cause *cause)
{
	row->cause = text_of(straggler_cause_words[cause->kind]);
	row->share = cause->share;
	row->explained = cause->explained_ns;
	row->why = cause->clause;
	row->metric = cause->metric;
	row->value = cause->value;
	row->peers = cause->peers;
	row->unit = cause->unit;
}

/* One that was asked for. */
static bool
is_wanted(const struct question_asked *asked, const struct straggler *straggler)
{
	struct text nodes = text_of(asked->values->window.node.list);

	return nodes.bytes == 0 || node_list_match(nodes, straggler->node);
}

static void
put_rows(const struct straggler *at, uint32_t count,
    const struct question_asked *asked, struct answer *answer)
{
	bool has_several = false;

	for (uint32_t i = 0; i < count; i++) {
		struct row row = row_of(&at[i]);

		if (!is_wanted(asked, &at[i]))
			continue;
		if (at[i].causes > 0)
			add_cause(&row, &at[i].cause[0]);
		has_several = has_several || at[i].causes > 1;
		answer_row(answer, &row, NULL);
	}
	/* A person has read those of one cause above. */
	if (!has_several && answer_is_for_people(answer) &&
	    asked->values->answer.table == NULL)
		return;
	answer_begin_table(answer, "causes");
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0;
		     k < at[i].causes && is_wanted(asked, &at[i]); k++) {
			struct row row = row_of(&at[i]);

			add_cause(&row, &at[i].cause[k]);
			answer_row(answer, &row, NULL);
		}
}

static void
put_notes(const struct stragglers *stragglers, struct answer *answer)
{
	if (stragglers->count == 0)
		answer_note(answer, "none_slow", ANSWER_NO_COUNT,
		    "no node was slow%s",
		    stragglers->not_judged > 0 ? " that can be judged" : "");
	if (stragglers->not_judged > 0)
		answer_note(answer, "not_judged", stragglers->not_judged,
		    "cannot judge %" PRIu64
		    " phase%s: fewer than 12 nodes had %s in this start, and "
		    "%s fewer than 12 times in the last 20 starts",
		    stragglers->not_judged,
		    stragglers->not_judged == 1 ? "" : "s",
		    stragglers->not_judged == 1 ? "it" : "them",
		    stragglers->not_judged == 1 ? "the node" : "these nodes");
	if (stragglers->not_explained > 0)
		answer_note(answer, "not_explained", stragglers->not_explained,
		    "only the %d that lost most have a cause: %" PRIu64
		    " have none",
		    STRAGGLERS_EXPLAINED, stragglers->not_explained);
	if (stragglers->count > 0 && !stragglers->has_words)
		answer_note(answer, "no_words", ANSWER_NO_COUNT,
		    "the model does not say what phases wait for (after, "
		    "after_any, end_after, places: poolscope-model(5)), so "
		    "that nothing is known of what they cost the pool");
}

/* ---- asking ---- */

static int
take_bounds(struct straggler_bounds *bounds,
    const struct question_values *values, struct err *err)
{
	const struct stragglers_values *asked = &values->stragglers;

	*bounds = (struct straggler_bounds)STRAGGLER_BOUNDS;
	bounds->lost_ns = asked->least_ns;
	if (asked->spreads != NULL &&
	    number_parse_double(text_of(asked->spreads), &bounds->z, err) != 0)
		return err_prefix(err, "--spreads");
	if (asked->ratio != NULL && number_parse_double(text_of(asked->ratio),
					&bounds->ratio, err) != 0)
		return err_prefix(err, "--ratio");
	if (!(bounds->z > 0 && bounds->z <= 1000))
		return err_set_option(
		    err, "spreads", "is not from above 0 to 1000");
	if (!(bounds->ratio >= 1 && bounds->ratio <= 1000))
		return err_set_option(err, "ratio", "is not from 1 to 1000");
	return 0;
}

static int
find_start(struct stragglers_query *to, const struct question_asked *asked,
    struct err *err)
{
	const struct starts_query query =
	    question_starts_query(asked->values, true);
	struct starts starts;
	int rc;

	to->start_ns = STRAGGLER_NO_NS;
	if (!asked->is_of_start)
		return 0;
	rc = starts_read(&starts, asked->source, asked->partition, &query, err);
	if (rc == 0) {
		const struct start *start = &starts.at[starts.count - 1];

		to->start_ns = start->begin_ns;
		to->needed = starts_needed(&starts.pool, start->nodes);
	}
	starts_clear(&starts);
	return rc;
}

static void
put_all(const struct stragglers *stragglers, const struct question_asked *asked,
    struct answer *answer)
{
	char words[QUESTION_CLOCK_BYTES], shown[300];
	char model[PHASES_MODEL_BYTES];
	struct text of = stragglers->timeline.model;
	const char *clock;

	answer_head(answer, "model", answer_text(of));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "nodes", answer_count(stragglers->nodes));
	answer_title(answer, "what nodes of %s were slow in, and why, by %s%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    phases_model_words(model, of), clock);
	put_rows(stragglers->at, stragglers->count, asked, answer);
	put_notes(stragglers, answer);
}

/* Which rank of a job comes last. */
static int
ask_ranks(
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct stragglers_values *values = &asked->values->stragglers;
	const struct rank_spans_query query = {
		question_query(asked, 1u << RECORD_SPAN), asked->partition,
		values->work, values->wait, values->error_ns
	};
	char words[QUESTION_CLOCK_BYTES], shown[300];
	struct rank_spans spans;
	int rc = rank_spans_read(&spans, asked->source, &query, err);

	if (rc == 0) {
		const char *clock = question_put_clock(words, asked, answer);

		answer_head(answer, "nodes", answer_count(spans.nodes.count));
		answer_head(answer, "ranks", answer_count(spans.ranks.count));
		answer_head(answer, "steps", answer_count(spans.ranks.steps));
		answer_title(answer,
		    "which of %" PRIu32 " ranks of %s are late in %" PRIu64
		    " steps, and why%s",
		    spans.ranks.count,
		    text_quote(shown, sizeof(shown), asked->partition),
		    spans.ranks.steps, clock);
		put_rows(spans.at, spans.count, asked, answer);
		straggler_ranks_put(&spans, answer);
	}
	rank_spans_clear(&spans);
	return rc;
}

/* ---- chronic ones ---- */

/* The starts of --last before the end of what is asked for. */
static int
read_chronic(struct chronic *chronic, const struct question_asked *asked,
    struct err *err)
{
	const struct question_values *values = asked->values;
	struct starts_query of = question_starts_query(values, true);
	struct chronic_query query = { .partition = asked->partition,
		.model = of.model,
		.to_ns = of.to_ns };
	struct starts starts;
	int rc;

	*chronic = (struct chronic){ .at = NULL };
	if (take_bounds(&query.bounds, values, err) != 0)
		return -1;
	of.from_ns = TIME_MIN_NS;
	rc = starts_read(&starts, asked->source, asked->partition, &of, err);
	if (rc == 0) {
		query.starts = &starts;
		query.from_ns = starts.at[starts.count - 1].begin_ns -
				values->stragglers.last_ns;
		rc = chronic_read(chronic, asked->source, &query, err);
	}
	starts_clear(&starts);
	return rc;
}

/* Whose turn it is: what is least likely first. */
static int
by_chance(const void *left, const void *right)
{
	const struct chronic_row *a = left, *b = right;

	if (a->chance < b->chance || a->chance > b->chance)
		return a->chance < b->chance ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

static struct chronic_row *
chronic_rows(const struct chronic *chronic, const struct question_asked *asked,
    uint32_t *count)
{
	struct text nodes = text_of(asked->values->window.node.list);
	struct chronic_row *rows =
	    memory_zero((size_t)chronic->nodes.count + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t i = 0; i < chronic->nodes.count; i++) {
		const struct chronic_node *at = &chronic->at[i];
		struct text node = chronic->nodes.names[i];

		if (at->slow == 0 ||
		    (nodes.bytes > 0 && !node_list_match(nodes, node)))
			continue;
		rows[(*count)++] = (struct chronic_row){ node, at->starts,
			at->slow, at->lost_ns, at->chance,
			at->is_chronic ? ANSWER_YES : ANSWER_NO };
	}
	if (*count > 0)
		qsort(rows, *count, sizeof(*rows), by_chance);
	return rows;
}

static int
put_chronic(
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct chronic chronic;
	struct chronic_row *rows;
	uint32_t count;

	if (read_chronic(&chronic, asked, err) != 0) {
		chronic_clear(&chronic);
		return -1;
	}
	rows = chronic_rows(&chronic, asked, &count);
	answer_begin_table(answer, "chronic");
	for (uint32_t i = 0; i < count; i++)
		answer_row(answer, &rows[i], NULL);
	answer_note(answer, "chronic_starts", chronic.starts,
	    "chronic ones are those of %" PRIu32 " start%s", chronic.starts,
	    chronic.starts == 1 ? "" : "s");
	free(rows);
	chronic_clear(&chronic);
	return 0;
}

/* --drain: names, a line each. */
static int
write_drain(const struct question_asked *asked, FILE *file, struct err *err)
{
	struct chronic chronic;
	struct chronic_row *rows;
	uint32_t count, drained = 0;
	int rc;

	if (!asked->values->stragglers.drain)
		return 1;
	rc = read_chronic(&chronic, asked, err);
	if (rc == 0) {
		rows = chronic_rows(&chronic, asked, &count);
		for (uint32_t i = 0; i < count; i++)
			if (rows[i].drain == ANSWER_YES) {
				fprintf(file, "%.*s\n", (int)rows[i].node.bytes,
				    rows[i].node.at);
				drained++;
			}
		free(rows);
		if (asked->status != NULL && drained > 0)
			*asked->status = STATUS_FOUND;
		else if (asked->status != NULL &&
			 chronic.starts < CHRONIC_STARTS_MIN)
			*asked->status = STATUS_UNDECIDED;
		/* No line is what a failed command prints, too. */
		if (drained == 0 && chronic.starts < CHRONIC_STARTS_MIN)
			log_info("cannot decide: nodes could be compared in "
				 "%" PRIu32 " start%s, it takes %d",
			    chronic.starts, chronic.starts == 1 ? "" : "s",
			    CHRONIC_STARTS_MIN);
		else if (drained == 0)
			log_info("no node is to be drained, after %" PRIu32
				 " starts",
			    chronic.starts);
	}
	chronic_clear(&chronic);
	return rc;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct question_values *values = asked->values;
	struct stragglers_query query = { .partition = asked->partition,
		.model = question_model(values),
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns };
	struct stragglers stragglers;
	int rc;

	if (values->stragglers.work != NULL)
		return ask_ranks(asked, answer, err);
	if (take_bounds(&query.bounds, values, err) != 0 ||
	    find_start(&query, asked, err) != 0)
		return -1;
	rc = stragglers_read(&stragglers, asked->source, &query, err);
	if (rc == 0)
		put_all(&stragglers, asked, answer);
	stragglers_clear(&stragglers);
	if (rc == 0 && question_is_given(values, "last"))
		rc = put_chronic(asked, answer, err);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	struct straggler_bounds bounds;

	if ((values->stragglers.work == NULL) !=
	    (values->stragglers.wait == NULL))
		return err_set(err, "--work and --wait need each other");
	return take_bounds(&bounds, values, err);
}

const struct question question_stragglers = { .word = "stragglers",
	.summary = "which nodes were slow in a start, and why",
	.options = "spreads ratio least last drain work wait clock-error "
		   "model node start "
		   "gap from to sort top columns",
	.examples = "poolscope stats stragglers -p 'acct$pool'\n"
		    "poolscope stats stragglers --start all --least 30s\n"
		    "poolscope stats stragglers -n cn21 --table causes\n"
		    "poolscope stats stragglers --last 30d --table chronic\n"
		    "poolscope stats stragglers --drain >drain.txt\n"
		    "poolscope stats stragglers --work forward --wait "
		    "all-reduce --from -1h\n",
	.tables = tables,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.check = check,
	.ask = ask,
	.write = write_drain };
