/*
 * question_nodes - which nodes of a pool are heard, and what is wrong with the
 * others: the worst first.  attention.h judges them.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/nodes/node_states.h"
#include "exporters/nodes/status.h"
#include "exporters/question/question.h"
#include "proto/os/clock.h"

struct row {
	struct text node, state, wrong, phase, phase_key;
	int64_t heard, silence, received, received_age, last_record;
	int64_t stopped, clock_offset, phase_open, phase_usual;
	double spool_bytes;
	enum answer_flag attention;
};

#define TIME(member)     ANSWER_AT_TIME(struct row, member)
#define DURATION(member) ANSWER_AT_DURATION(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "its name" },
	{ "state", "STATE", ANSWER_AT_TEXT(struct row, state),
	    "live, late, silent, gone, stopped or imported",
	    .traits = ANSWER_IN_ORDER },
	{ "heard", NULL, TIME(heard),
	    "when its newest record was made, by the aggregator's clock" },
	{ "silence", "HEARD", DURATION(silence), "how long ago that was" },
	{ "received", NULL, TIME(received),
	    "when the aggregator received the record that came last" },
	{ "received_age", "RECEIVED", DURATION(received_age),
	    "how long ago that was", .traits = ANSWER_SPARE },
	{ "last_record", NULL, TIME(last_record),
	    "the time of the record that came last, by the node's clock" },
	{ "stopped", NULL, TIME(stopped),
	    "since when it has stopped, or is retired" },
	{ "spool_bytes", "SPOOL", ANSWER_AT_BYTES(struct row, spool_bytes),
	    "what its agent has not sent yet", .traits = ANSWER_SPARE },
	{ "clock_offset", "CLOCK", DURATION(clock_offset),
	    "how far the aggregator's clock is ahead of the node's",
	    .traits = ANSWER_SPARE | ANSWER_BY_SIZE },
	{ "phase", NULL, ANSWER_AT_TEXT(struct row, phase),
	    "the phase that it has been in for longer than usual" },
	{ "phase_key", NULL, ANSWER_AT_TEXT(struct row, phase_key),
	    "of which key its usual time is; unknown: of the phase with any" },
	{ "phase_open", NULL, DURATION(phase_open), "how long, until now" },
	{ "phase_usual", NULL, DURATION(phase_usual),
	    "the median of those that ended in the last starts" },
	{ "attention", NULL, ANSWER_AT_FLAG(struct row, attention),
	    "it needs attention" },
	{ "wrong", "WRONG", ANSWER_AT_TEXT(struct row, wrong),
	    "what is wrong with it; empty: nothing",
	    .traits = ANSWER_IN_ORDER },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "live", ANSWER_HEAD(ANSWER_COUNT), "nodes that are heard" },
	{ "late", ANSWER_HEAD(ANSWER_COUNT),
	    "nodes that were heard less than 10 minutes ago" },
	{ "silent", ANSWER_HEAD(ANSWER_COUNT),
	    "nodes that were heard less than an hour ago" },
	{ "gone", ANSWER_HEAD(ANSWER_COUNT),
	    "nodes that have not been heard for longer" },
	{ "stopped", ANSWER_HEAD(ANSWER_COUNT),
	    "nodes that have stopped in order, or are retired" },
	{ "imported", ANSWER_HEAD(ANSWER_COUNT),
	    "nodes of which only imports brought records" },
	{ "attention", ANSWER_HEAD(ANSWER_COUNT), "nodes that need attention" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "nodes", columns },
	{ "head", head }, { .name = NULL } };

static int
by_attention(const void *left, const void *right)
{
	const struct node_state *a = left, *b = right;
	int order = (int)attention_weight(b->attention) -
		    (int)attention_weight(a->attention);

	if (order == 0)
		order = node_condition_weight(b->condition) -
			node_condition_weight(a->condition);
	return order != 0 ? order : text_compare(a->name, b->name);
}

static int64_t
whole(double ns)
{
	return fabs(ns) < 0x1p63 ? (int64_t)ns : ANSWER_NO_NS;
}

static void
put(struct answer *answer, const struct node_state *node, int64_t now_ns)
{
	char wrong[ATTENTION_TEXT_BYTES];
	bool is_long = (node->attention & 1u << ATTENTION_PHASE) != 0;
	const struct row row = { .node = node->name,
		.state = text_of(node_condition_words[node->condition]),
		.wrong = text_of(node_state_wrong(wrong, node)),
		.heard = node->heard_ns,
		.silence = node->age_ns,
		.received = node->received_ns,
		.received_age = node->received_ns == INT64_MIN ? ANSWER_NO_NS
				: node->received_ns > now_ns
				    ? 0
				    : now_ns - node->received_ns,
		.last_record = node->last_ns,
		.stopped = node->stopped_ns,
		.spool_bytes = node->spool,
		.clock_offset = whole(node->clock_ns),
		.phase = is_long ? node->phase.id : (struct text){ NULL, 0 },
		.phase_key =
		    is_long ? node->phase.key : (struct text){ NULL, 0 },
		.phase_open = is_long ? node->phase_ns : ANSWER_NO_NS,
		.phase_usual = is_long ? node->phase.usual_ns : ANSWER_NO_NS,
		.attention = node->attention != 0 ? ANSWER_YES : ANSWER_NO };

	answer_row(answer, &row, NULL);
}

static void
put_counts(struct answer *answer, const struct node_states *states)
{
	const uint32_t *counts = states->conditions;

	for (int i = 0; i < NODE_CONDITIONS; i++)
		answer_head(
		    answer, node_condition_words[i], answer_count(counts[i]));
	answer_head(answer, "attention", answer_count(states->attended));
	if (counts[NODE_IMPORTED] > 0)
		answer_title(answer,
		    "%u live, %u late, %u silent, %u gone, %u stopped, %u "
		    "imported",
		    counts[NODE_LIVE], counts[NODE_LATE], counts[NODE_SILENT],
		    counts[NODE_GONE], counts[NODE_STOPPED],
		    counts[NODE_IMPORTED]);
	else if (counts[NODE_STOPPED] > 0)
		answer_title(answer,
		    "%u live, %u late, %u silent, %u gone, %u stopped",
		    counts[NODE_LIVE], counts[NODE_LATE], counts[NODE_SILENT],
		    counts[NODE_GONE], counts[NODE_STOPPED]);
	else
		answer_title(answer, "%u live, %u late, %u silent, %u gone",
		    counts[NODE_LIVE], counts[NODE_LATE], counts[NODE_SILENT],
		    counts[NODE_GONE]);
}

/* What is wrong with the head: that its store fills up, and why nodes may not
 * be heard although nothing is wrong with them, such as an aggregator that does
 * not run. */
static void
put_head_problems(
    const struct question_asked *asked, bool all_live, struct answer *answer)
{
	const char *full = counters[COUNTER_ROOM_nearly_full].name;
	struct status_facts facts;
	struct status_verdict verdict;
	struct err err = { 0 };

	if (status_facts_read(
		&facts, asked->source, asked->options, asked->limit, &err) != 0)
		return;
	status_judge(&verdict, &facts);
	for (uint32_t i = 0; i < verdict.problems.count; i++) {
		const struct status_line *line = &verdict.problems.at[i];

		if ((!all_live && line->verdict == VERDICT_CRITICAL) ||
		    strcmp(line->key, full) == 0)
			answer_note(answer, line->key, ANSWER_NO_COUNT, "%s",
			    line->text);
	}
	status_verdict_clear(&verdict);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct time_window_options *window = &asked->values->window;
	int64_t now_ns = clock_wall_ns();
	struct node_states states;
	char shown[300];
	int rc = node_states_read(&states, asked->source, asked->partition,
	    text_of(window->node.list), window->from_ns, now_ns, err);

	if (rc == 0 && states.count == 0)
		rc = err_set(err,
		    "no node of partition %s was heard since then (--from asks "
		    "for a longer time)",
		    text_quote(shown, sizeof(shown), asked->partition));
	if (rc == 0) {
		qsort(
		    states.at, states.count, sizeof(*states.at), by_attention);
		if (states.attended > 0)
			*asked->status = STATUS_FOUND;
		put_counts(answer, &states);
		for (uint32_t i = 0; i < states.count; i++)
			put(answer, &states.at[i], now_ns);
		if (states.left_out.text[0] != '\0')
			answer_note(answer, "left_out", ANSWER_NO_COUNT,
			    "not known are incomplete starts and lost records: "
			    "%s",
			    states.left_out.text);
		put_head_problems(asked,
		    states.conditions[NODE_LIVE] == states.count, answer);
	}
	node_states_clear(&states);
	return rc;
}

const struct question question_nodes = { .word = "nodes",
	.summary = "which nodes are heard, and what is wrong with them",
	.options = "node from sort top columns",
	.examples = "poolscope nodes -p 'acct$pool'\n"
		    "poolscope nodes --sort clock_offset -n 'cn1*'\n",
	.tables = tables,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.ages = true,
	.ask = ask };
