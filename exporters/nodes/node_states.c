/*
 * node_states - when each node of a partition was heard, and what that means.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/node_states.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/nodes/long_phases.h"
#include "exporters/phases/usual.h"
#include "exporters/source/starts.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

const char *const node_condition_words[NODE_CONDITIONS] = { "live", "late",
	"silent", "gone", "stopped", "imported" };

int
node_condition_weight(enum node_condition condition)
{
	return condition <= NODE_GONE ? (int)condition
				      : NODE_GONE - (int)condition;
}

#define MINUTE_NS (60 * NS_PER_SECOND)
/* What is lost needs attention for a day. */
/* Of incomplete starts and lost records. */
#define RECENT_NS (24 * 60 * MINUTE_NS)
/* Of a store that does not say. */
#define RETIRE_NS (7 * 24 * 60 * MINUTE_NS)
/* Silence from which a node has the condition of the number. */
static const int64_t silences[NODE_GONE + 1] = { 0, MINUTE_NS, 10 * MINUTE_NS,
	60 * MINUTE_NS };

/* An offset of more than 270 years is none. */
#define CLOCK_MAX (INT64_MAX / 32 * 30)

/* ---- reading ---- */

static struct node_state *
state_of(struct node_states *states, struct text name)
{
	uint32_t number = string_table_add(&states->names, name);
	struct node_state *node;

	MEMORY_GROW(states->at, states->room, number);
	node = &states->at[number];
	if (number == states->count) {
		states->count++;
		*node =
		    (struct node_state){ .name = states->names.names[number],
			    .heard_ns = INT64_MIN,
			    .received_ns = INT64_MIN,
			    .last_ns = INT64_MIN,
			    .bye_ns = INT64_MIN,
			    .stopped_ns = INT64_MIN,
			    .lost_ns = INT64_MIN,
			    .spool = NAN,
			    .clock_ns = NAN,
			    .phase.due_ns = INT64_MAX };
	}
	return node;
}

/* What the source says of a node. */
struct heard {
	int64_t received_ns, last_ns, sample_ns, clock_ns, clock_at_ns;
	int64_t spool, spool_at_ns, stopped_ns, imported, retire_ns;
};

enum { HEARD = sizeof(struct heard) / sizeof(int64_t) };
static const char *const heard_keys[HEARD] = { "received_ns", "time_ns",
	"sample_ns", "clock_ns", "clock_at_ns", "spool_bytes", "spool_at_ns",
	"stopped_ns", "imported", "retire_ns" };

static struct heard
heard_of(const struct record *record)
{
	struct heard heard = { INT64_MIN, INT64_MIN, INT64_MIN, 0, INT64_MIN, 0,
		INT64_MIN, INT64_MIN, 0, RETIRE_NS };
	int64_t *const values[HEARD] = { &heard.received_ns, &heard.last_ns,
		&heard.sample_ns, &heard.clock_ns, &heard.clock_at_ns,
		&heard.spool, &heard.spool_at_ns, &heard.stopped_ns,
		&heard.imported, &heard.retire_ns };
	struct text pairs = record->pairs;
	struct record_attribute a;
	int at = 0;

	/* Mostly in this order: the next one is looked for first. */
	while (record_next_attribute(&pairs, &a))
		for (int i = 0; i < HEARD; i++, at = (at + 1) % HEARD)
			if (a.value.type == VALUE_INT &&
			    text_equal(a.key, text_of(heard_keys[at]))) {
				*values[at] = a.value.is.i;
				break;
			}
	return heard;
}

static int64_t
shifted(int64_t time_ns, int64_t by_ns)
{
	int64_t sum_ns;

	if (!__builtin_add_overflow(time_ns, by_ns, &sum_ns))
		return sum_ns;
	return by_ns > 0 ? INT64_MAX : INT64_MIN + 1;
}

static void
take(struct node_states *states, const struct record *record, int64_t from_ns)
{
	const struct heard heard = heard_of(record);
	int64_t made_ns =
	    heard.last_ns > heard.sample_ns ? heard.last_ns : heard.sample_ns;
	bool is_clock_known = heard.clock_at_ns != INT64_MIN &&
			      heard.clock_ns > -CLOCK_MAX &&
			      heard.clock_ns < CLOCK_MAX;
	int64_t ahead_ns = is_clock_known ? heard.clock_ns : 0;
	struct node_state *node;

	if (made_ns == INT64_MIN || shifted(made_ns, ahead_ns) < from_ns)
		return;
	node = state_of(states, record->name);
	node->made_ns = made_ns;
	node->received_ns = heard.received_ns;
	node->last_ns = heard.last_ns;
	node->bye_ns = heard.stopped_ns;
	node->retire_ns = heard.retire_ns;
	node->is_imported = heard.imported != 0;
	if (is_clock_known && shifted(heard.clock_at_ns, ahead_ns) >= from_ns) {
		node->clock_ns = (double)heard.clock_ns;
		node->clock_at_ns = heard.clock_at_ns;
	}
	if (heard.spool_at_ns != INT64_MIN &&
	    shifted(heard.spool_at_ns, ahead_ns) >= from_ns) {
		node->spool = (double)heard.spool;
		node->spool_at_ns = heard.spool_at_ns;
	}
}

static int
read_nodes(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, struct err *err)
{
	struct wire_query query = source_query(0);
	struct record record;
	int rc;

	query.node = node;
	if (source_select(source, SOURCE_NODES, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		take(states, &record, from_ns);
	if (rc == 0 && states->count > NODE_STATES_MAX)
		rc = err_set(err, "more than %d nodes; select some with -n",
		    NODE_STATES_MAX);
	return rc;
}

static int64_t
ahead_of(const struct node_state *node)
{
	return isnan(node->clock_ns) ? 0 : (int64_t)node->clock_ns;
}

/* Which nodes are not ready since they began last, if others are, and nothing
 * was heard of the newest start for a pause that ends one. */
static int
read_starts(struct node_states *states, struct source *source,
    struct text partition, int64_t now_ns, struct err *err)
{
	const struct starts_query query = { .from_ns =
						shifted(now_ns, -RECENT_NS),
		.to_ns = TIME_MAX_NS,
		.gap_ns = STARTS_GAP_MODEL };
	const struct start *newest;
	struct starts starts;
	uint32_t number;
	int rc = starts_read(&starts, source, partition, &query, err);

	if (rc == 0) {
		newest = &starts.at[starts.count - 1];
		states->starting_ns =
		    shifted(newest->sign_ns, starts.pool.gap_ns);
		for (uint32_t i = 0;
		     newest->ready > 0 && i < starts.nodes.count; i++)
			if (starts.ready_ns[i] == START_UNKNOWN &&
			    string_table_find(
				&states->names, starts.nodes.names[i], &number))
				states->at[number].is_incomplete = true;
	}
	starts_clear(&starts);
	/* That no node began is an answer. */
	return rc != 0 && source_has_failed(source) ? -1 : 0;
}

/* Only an archive that is away may have what was to be read: the rest is
 * judged without it. */
static void
leave_out(struct node_states *states, struct err *err)
{
	states->left_out = *err;
	err_clear(err);
}

static int
read_phases(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t now_ns, struct err *err)
{
	/* By the clock that is ahead most. */
	int64_t until_ns = now_ns;
	struct long_phase *phases;
	bool is_incomplete;
	int rc;

	for (uint32_t i = 0; i < states->count; i++) {
		int64_t own_ns = shifted(now_ns, -ahead_of(&states->at[i]));

		if (own_ns > until_ns)
			until_ns = own_ns;
	}
	rc = long_phases_read(&phases, &states->phases, source, partition, node,
	    &states->names, until_ns, &states->has_more, &is_incomplete, err);
	for (uint32_t i = 0; rc == 0 && i < states->count; i++)
		states->at[i].phase = phases[i];
	free(phases);
	if (rc == 0 && is_incomplete &&
	    read_starts(states, source, partition, now_ns, err) != 0)
		leave_out(states, err);
	return rc;
}

/* What agents lost, and what the aggregator refused to read. */
static int
read_lost(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t now_ns, struct err *err)
{
	struct wire_query query =
	    source_query(1u << RECORD_GAP | 1u << RECORD_REJECTED);
	struct record record;
	uint32_t number;
	int rc;

	query.node = node;
	query.from_ns = shifted(now_ns, -RECENT_NS);
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0)
		if (string_table_find(&states->names, record.node, &number) &&
		    record.time_ns > states->at[number].lost_ns)
			states->at[number].lost_ns = record.time_ns;
	return rc;
}

int
node_states_read(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t now_ns,
    struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	int rc;

	*states = (struct node_states){ .complete_ns = INT64_MAX,
		.read_ns = now_ns,
		.starting_ns = INT64_MIN };
	string_table_init(&states->names);
	string_table_init(&states->phases);
	source_clock(source)->choice = CLOCK_RAW;
	rc = read_nodes(states, source, partition, node, from_ns, err);
	states->complete_ns = source_complete_ns(source);
	if (rc == 0 && states->count > 0)
		rc = read_phases(states, source, partition, node, now_ns, err);
	if (rc == 0 && states->count > 0 &&
	    read_lost(states, source, partition, node, now_ns, err) != 0)
		leave_out(states, err);
	if (source_complete_ns(source) < states->complete_ns)
		states->complete_ns = source_complete_ns(source);
	source_clock(source)->choice = choice;
	if (rc == 0)
		node_states_judge(states, now_ns);
	return rc;
}

void
node_states_clear(struct node_states *states)
{
	free(states->at);
	string_table_clear(&states->names);
	string_table_clear(&states->phases);
	*states = (struct node_states){ .count = 0 };
}

/* ---- judging ---- */

static void
judge(struct node_state *node, int64_t now_ns, bool is_starting)
{
	struct attention_facts facts;

	node->heard_ns = shifted(node->made_ns, ahead_of(node));
	/* Nothing is made after it is received: a clock far ahead, by an offset
	 * that is not known, keeps no dead node alive. */
	if (node->received_ns != INT64_MIN &&
	    node->heard_ns > shifted(node->received_ns, silences[NODE_GONE]))
		node->heard_ns = node->received_ns;
	node->age_ns = now_ns > node->heard_ns ? now_ns - node->heard_ns : 0;
	node->condition = NODE_LIVE;
	while (node->condition < NODE_GONE &&
	       node->age_ns >= silences[node->condition + 1])
		node->condition++;
	node->stopped_ns = node->bye_ns;
	if (node->stopped_ns == INT64_MIN && node->retire_ns > 0 &&
	    node->age_ns >= node->retire_ns)
		node->stopped_ns = shifted(node->heard_ns, node->retire_ns);
	if (node->is_imported)
		node->condition = NODE_IMPORTED;
	else if (node->stopped_ns != INT64_MIN)
		node->condition = NODE_STOPPED;
	if (node->phase.due_ns != INT64_MAX)
		node->phase_ns = shifted(
		    shifted(now_ns, -ahead_of(node)), -node->phase.begin_ns);
	facts =
	    (struct attention_facts){ .is_retired = node->condition > NODE_GONE,
		    .is_silent = node->condition == NODE_SILENT,
		    .is_gone = node->condition == NODE_GONE,
		    .is_long = node->phase.due_ns != INT64_MAX &&
			       node->phase_ns >
				   node->phase.due_ns - node->phase.begin_ns,
		    .is_incomplete = node->is_incomplete && !is_starting,
		    .has_lost = node->lost_ns != INT64_MIN &&
				now_ns < shifted(node->lost_ns, RECENT_NS),
		    .spool = node->spool,
		    .clock_ns = node->clock_ns };
	node->attention = attention_judge(&facts);
}

void
node_states_judge(struct node_states *states, int64_t now_ns)
{
	if (now_ns > states->complete_ns)
		now_ns = states->complete_ns;
	memset(states->conditions, 0, sizeof(states->conditions));
	states->heard_ns = INT64_MIN;
	memset(states->attention, 0, sizeof(states->attention));
	states->attended = 0;
	for (uint32_t i = 0; i < states->count; i++) {
		struct node_state *node = &states->at[i];

		judge(node, now_ns, now_ns <= states->starting_ns);
		if (node->heard_ns > states->heard_ns)
			states->heard_ns = node->heard_ns;
		states->conditions[node->condition]++;
		states->attended += node->attention != 0;
		for (int k = 0; k < ATTENTIONS; k++)
			states->attention[k] += node->attention >> k & 1;
	}
}

bool
node_states_are_old(const struct node_states *states, int64_t now_ns)
{
	/* Less is usual of no phase. */
	return states->has_more &&
	       now_ns >=
		   shifted(states->read_ns, USUAL_LEAST * NS_PER_SECOND) &&
	       now_ns < shifted(states->heard_ns, RETIRE_NS);
}

const char *
node_state_wrong(
    char to[static ATTENTION_TEXT_BYTES], const struct node_state *node)
{
	const struct attention_phase phase = { long_phase_name(&node->phase),
		(double)node->phase_ns / 1e9,
		(double)node->phase.usual_ns / 1e9 };

	return attention_text(to, node->attention, &phase);
}
