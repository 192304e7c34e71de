/*
 * node_states - when each node of a partition was heard, and what that means.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/node_states.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/samples/series.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

const char *const node_condition_words[NODE_CONDITIONS] = { "live", "late",
	"silent", "gone" };

#define MINUTE_NS (60 * NS_PER_SECOND)
/* Silence from which a node has the condition of the number. */
static const int64_t silences[NODE_CONDITIONS] = { 0, MINUTE_NS, 10 * MINUTE_NS,
	60 * MINUTE_NS };

/* What needs attention. */
#define SPOOL_MANY (16.0 * (1 << 20))     /* bytes that are not sent */
#define CLOCK_OFF  (NS_PER_SECOND / 10.0) /* ns */

/* ---- reading ---- */

static double
number_of(const struct value *value)
{
	switch (value->type) {
	case VALUE_INT: return (double)value->is.i;
	case VALUE_UINT: return (double)value->is.u;
	case VALUE_FLOAT: return value->is.f;
	default: return NAN;
	}
}

static struct node_state *
state_of(struct node_states *states, struct text name)
{
	uint32_t number = string_table_add(&states->names, name);
	struct node_state *node;

	states->at =
	    memory_grow(states->at, &states->room, number, sizeof(*states->at));
	node = &states->at[number];
	if (number == states->count) {
		states->count++;
		*node =
		    (struct node_state){ .name = states->names.names[number],
			    .heard_ns = INT64_MIN,
			    .received_ns = INT64_MIN,
			    .last_ns = INT64_MIN,
			    .spool = NAN,
			    .clock_ns = NAN };
	}
	return node;
}

static void
take(struct node_states *states, const struct series_point *point)
{
	struct node_state *node = state_of(states, point->node);
	double value = number_of(&point->last);

	/* Points of a series come in the order of time. */
	if (text_equal(point->metric, text_of("poolscope.clock.offset"))) {
		node->clock_ns = value;
		node->clock_at_ns = point->last_ns;
	}
	if (text_equal(
		point->metric, text_of("poolscope.agent.spool.unacked"))) {
		node->spool = value;
		node->spool_at_ns = point->last_ns;
	}
	if (point->last_ns > node->made_ns)
		node->made_ns = point->last_ns;
}

static int
read_metric(struct node_states *states, struct series *series,
    const struct series_query *query, struct err *err)
{
	struct series_point point;
	int rc = series_select(series, query, err);

	if (rc != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0)
		take(states, &point);
	return rc;
}

/* A group that most agents sample, what the agent says of itself, and of its
 * clock. */
static int
read_samples(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, struct err *err)
{
	static const char *const metrics[][2] = {
		{ "cpu", "system.cpu.time.idle" },
		{ "self", "poolscope.agent.spool.unacked" },
		{ "clock", "poolscope.clock.offset" },
	};
	struct series_query query = { .node = node,
		.from_ns = from_ns,
		.to_ns = TIME_MAX_NS,
		.step_ns = 60 * MINUTE_NS };
	struct series *series = NULL;
	int rc = series_open(&series, source, partition, err);

	for (size_t i = 0; rc == 0 && i < sizeof(metrics) / sizeof(*metrics);
	     i++) {
		series_forget(series);
		query.group = text_of(metrics[i][0]);
		query.metric = text_of(metrics[i][1]);
		rc = read_metric(states, series, &query, err);
	}
	series_close(&series);
	return rc;
}

static int64_t
time_of(const struct record *record, const char *key)
{
	struct value value;

	return record_find_attribute(record, text_of(key), &value) &&
		       value.type == VALUE_INT
		   ? value.is.i
		   : INT64_MIN;
}

/* The last record of each node that was heard, whatever it was. */
static int
read_last_records(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, struct err *err)
{
	struct wire_query query = source_query(0);
	struct node_state *state;
	struct record record;
	uint32_t number;
	int rc;

	query.node = node;
	if (source_select(source, SOURCE_NODES, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		int64_t last_ns = time_of(&record, "time_ns");

		if (last_ns < from_ns &&
		    !string_table_find(&states->names, record.name, &number))
			continue;
		state = state_of(states, record.name);
		state->received_ns = time_of(&record, "received_ns");
		state->last_ns = last_ns;
		if (last_ns > state->made_ns)
			state->made_ns = last_ns;
	}
	return rc;
}

/* The newest samples are those from `since_ns` on. */
static int
read_since(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t since_ns,
    struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	int rc = 0;

	source_clock(source)->choice = CLOCK_RAW;
	if (since_ns < INT64_MAX)
		rc = read_samples(
		    states, source, partition, node, since_ns, err);
	if (rc == 0)
		rc = read_last_records(
		    states, source, partition, node, from_ns, err);
	source_clock(source)->choice = choice;
	if (rc == 0 && states->count > NODE_STATES_MAX)
		rc = err_set(err, "more than %d nodes; select some with -n",
		    NODE_STATES_MAX);
	return rc;
}

int
node_states_read(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t now_ns,
    struct err *err)
{
	*states = (struct node_states){ .count = 0 };
	string_table_init(&states->names);
	if (read_since(
		states, source, partition, node, from_ns, from_ns, err) != 0)
		return -1;
	node_states_judge(states, now_ns);
	return 0;
}

void
node_states_clear(struct node_states *states)
{
	free(states->at);
	string_table_clear(&states->names);
	*states = (struct node_states){ .count = 0 };
}

/* ---- reading again ---- */

/* A node sends in the order of time, or at least what it sent since its last
 * record was received is not older than both that one and the last one now.  A
 * node that is new may have brought a day. */
static int64_t
since_of(const struct node_states *states, const struct record *record,
    int64_t from_ns)
{
	int64_t last_ns = time_of(record, "time_ns"), before_ns;
	const struct node_state *known;
	uint32_t number;

	if (!string_table_find(&states->names, record->name, &number))
		return last_ns < from_ns ? INT64_MAX : from_ns;
	known = &states->at[number];
	if (known->last_ns == last_ns &&
	    known->received_ns == time_of(record, "received_ns"))
		return INT64_MAX;
	before_ns =
	    known->last_ns == INT64_MIN ? known->made_ns : known->last_ns;
	return before_ns < last_ns ? before_ns : last_ns;
}

/* INT64_MAX: nothing came. */
static int
find_since(const struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t *since_ns,
    struct err *err)
{
	struct wire_query query = source_query(0);
	struct record record;
	int rc;

	*since_ns = INT64_MAX;
	query.node = node;
	if (source_select(source, SOURCE_NODES, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		int64_t since = since_of(states, &record, from_ns);

		if (since < *since_ns)
			*since_ns = since;
	}
	if (*since_ns < from_ns)
		*since_ns = from_ns;
	return rc;
}

static bool
has_older(const struct node_state *node, int64_t from_ns)
{
	return node->made_ns < from_ns ||
	       (!isnan(node->clock_ns) && node->clock_at_ns < from_ns) ||
	       (!isnan(node->spool) && node->spool_at_ns < from_ns);
}

/* Without what is older. */
static void
copy_from(
    struct node_states *to, const struct node_states *states, int64_t from_ns)
{
	*to = (struct node_states){ .count = 0 };
	string_table_init(&to->names);
	for (uint32_t i = 0; i < states->count; i++) {
		struct node_state *made;
		struct text name;

		if (states->at[i].made_ns < from_ns)
			continue;
		made = state_of(to, states->at[i].name);
		name = made->name;
		*made = states->at[i];
		made->name = name;
		if (made->clock_at_ns < from_ns)
			made->clock_ns = NAN;
		if (made->spool_at_ns < from_ns)
			made->spool = NAN;
	}
}

void
node_states_drop(struct node_states *states, int64_t from_ns)
{
	struct node_states left;
	uint32_t i = 0;

	while (i < states->count && !has_older(&states->at[i], from_ns))
		i++;
	if (i == states->count)
		return;
	copy_from(&left, states, from_ns);
	node_states_clear(states);
	*states = left;
}

int
node_states_read_again(struct node_states *states, struct source *source,
    struct text partition, struct text node, int64_t from_ns, int64_t now_ns,
    struct err *err)
{
	struct node_states again;
	int64_t since_ns;

	if (find_since(
		states, source, partition, node, from_ns, &since_ns, err) != 0)
		return -1;
	copy_from(&again, states, from_ns);
	if (read_since(
		&again, source, partition, node, from_ns, since_ns, err) != 0) {
		node_states_clear(&again);
		return -1;
	}
	node_states_clear(states);
	*states = again;
	node_states_judge(states, now_ns);
	return 0;
}

/* ---- judging ---- */

static void
judge(struct node_state *node, int64_t now_ns)
{
	node->heard_ns = node->made_ns;
	if (!isnan(node->clock_ns))
		node->heard_ns += (int64_t)node->clock_ns;
	node->age_ns = now_ns > node->heard_ns ? now_ns - node->heard_ns : 0;
	node->condition = NODE_LIVE;
	while (node->condition < NODE_GONE &&
	       node->age_ns >= silences[node->condition + 1])
		node->condition++;
	node->spool_fills = !isnan(node->spool) && node->spool > SPOOL_MANY;
	node->clock_is_off =
	    !isnan(node->clock_ns) && fabs(node->clock_ns) > CLOCK_OFF;
}

void
node_states_judge(struct node_states *states, int64_t now_ns)
{
	memset(states->conditions, 0, sizeof(states->conditions));
	for (uint32_t i = 0; i < states->count; i++) {
		judge(&states->at[i], now_ns);
		states->conditions[states->at[i].condition]++;
	}
}

int
node_states_status(const struct node_states *states)
{
	int status = states->conditions[NODE_LATE] > 0;

	for (uint32_t i = 0; i < states->count; i++)
		if (states->at[i].spool_fills || states->at[i].clock_is_off)
			status = 1;
	return states->conditions[NODE_SILENT] + states->conditions[NODE_GONE] >
		       0
		   ? 2
		   : status;
}

const char *
node_state_wrong(
    char to[static NODE_STATE_WRONG_BYTES], const struct node_state *node)
{
	bool heard = node->condition == NODE_LIVE, much = node->spool_fills;

	snprintf(to, NODE_STATE_WRONG_BYTES, "%s%s%s%s%s",
	    heard ? "" : "not heard", !heard && much ? "; " : "",
	    much ? "spool fills" : "",
	    (!heard || much) && node->clock_is_off ? "; " : "",
	    node->clock_is_off ? "clock off" : "");
	return to;
}
