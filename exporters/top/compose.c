/*
 * top_compose - a snapshot of what is now.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/compose.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/source/order.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* The rate of records is that of at least this time. */
#define RATE_NS (2 * NS_PER_SECOND)

/* ---- nodes ---- */

static struct order_key
name_key(const void *arg, uint32_t number, int column)
{
	const struct node_states *states = arg;

	(void)column;
	return (struct order_key){ .is_text = true,
		.text = states->at[number].name };
}

/* Do the rows of before still name all nodes? */
static bool
has_same_nodes(const struct compose *compose, const struct node_states *states)
{
	if (compose->names == NULL || compose->count != states->count)
		return false;
	for (uint32_t i = 0; i < compose->count; i++)
		if (!text_equal(compose->names->table.names[i],
			states->at[compose->order[i]].name))
			return false;
	return true;
}

static void
take_names(struct compose *compose, const struct node_states *states)
{
	if (has_same_nodes(compose, states))
		return;
	top_unshare(compose->names);
	compose->names = top_texts_new();
	free(compose->order);
	compose->count = states->count;
	compose->order =
	    memory_alloc((states->count + 1) * sizeof(*compose->order));
	for (uint32_t i = 0; i < states->count; i++)
		compose->order[i] = i;
	order_numbers(compose->order, states->count, name_key, 0, states);
	for (uint32_t i = 0; i < states->count; i++)
		top_texts_add(
		    compose->names, states->at[compose->order[i]].name);
}

/* The label of a phase that a node is in for longer than usual; that of
 * open_phases has its key. */
static struct text
label_of(const struct node_state *node, const struct open_phase *open)
{
	return open != NULL && open->begin_ns == node->phase.begin_ns
		   ? open->label
		   : long_phase_name(&node->phase);
}

static bool
is_long(const struct node_state *node)
{
	return (node->attention & 1u << ATTENTION_PHASE) != 0;
}

static bool
has_same_labels(const struct compose *compose, const struct open_phases *open,
    const struct node_states *states, bool was_read)
{
	uint32_t number;

	if (compose->labels == NULL ||
	    compose->open_labels != open->labels.count)
		return false;
	for (uint32_t i = 0; was_read && i < open->labels.count; i++)
		if (!text_equal(
			compose->labels->table.names[i], open->labels.names[i]))
			return false;
	for (uint32_t i = 0; i < states->count; i++)
		if (is_long(&states->at[i]) &&
		    !string_table_find(&compose->labels->table,
			long_phase_name(&states->at[i].phase), &number))
			return false;
	return true;
}

static void
take_labels(struct compose *compose, const struct open_phases *open,
    const struct node_states *states, bool was_read)
{
	uint32_t number;

	if (has_same_labels(compose, open, states, was_read))
		return;
	top_unshare(compose->labels);
	compose->labels = top_texts_new();
	compose->open_labels = open->labels.count;
	for (uint32_t i = 0; i < open->labels.count; i++)
		top_texts_add(compose->labels, open->labels.names[i]);
	for (uint32_t i = 0; i < states->count; i++) {
		struct text name = long_phase_name(&states->at[i].phase);

		if (is_long(&states->at[i]) &&
		    !string_table_find(&compose->labels->table, name, &number))
			top_texts_add(compose->labels, name);
	}
}

static float
seconds(int64_t ns)
{
	return (float)((double)ns / (double)NS_PER_SECOND);
}

static void
put_phase(struct top_node *row, const struct compose *compose,
    const struct open_phase *open, const struct node_state *node,
    int64_t now_ns)
{
	int64_t ahead_ns = isnan(node->clock_ns) ? 0 : (int64_t)node->clock_ns;
	int64_t age_ns, begin_ns;
	struct text label;
	uint32_t number;

	row->phase = TOP_NO_PHASE;
	row->phase_age = row->phase_usual = NAN;
	if (is_long(node)) {
		label = label_of(node, open);
		begin_ns = node->phase.begin_ns;
		row->phase_usual = (float)node->phase.usual;
	} else if (open != NULL) {
		label = open->label;
		begin_ns = open->begin_ns;
	} else {
		return;
	}
	if (compose->labels == NULL ||
	    !string_table_find(&compose->labels->table, label, &number))
		return;
	age_ns = now_ns - begin_ns - ahead_ns;
	row->phase = number;
	row->phase_age = seconds(age_ns > 0 ? age_ns : 0);
}

static void
put_node(struct top_node *row, const struct compose *compose,
    const struct now *now, const struct node_state *node, int64_t now_ns)
{
	const struct node_usage usage =
	    node_usage_of(now_usages(now), node->name);
	int64_t received_ns = now_ns - node->received_ns;

	*row = (struct top_node){
		.age = seconds(node->age_ns),
		.received = node->received_ns == INT64_MIN
				? NAN
				: seconds(received_ns > 0 ? received_ns : 0),
		.spool = (float)node->spool,
		.clock = (float)(node->clock_ns / 1e9),
		.cpu = (float)usage.numbers[USAGE_CPU],
		.iowait = (float)usage.numbers[USAGE_IOWAIT],
		.receive = (float)usage.numbers[USAGE_RECEIVE],
		.pressure = (float)usage.numbers[USAGE_IO_PRESSURE],
		.condition = (uint8_t)node->condition,
		.attention = (uint8_t)node->attention,
	};
	/* They were not read again since nothing came. */
	if (node->age_ns > NODE_USAGE_LAST_NS)
		row->cpu = row->iowait = row->receive = row->pressure = NAN;
	put_phase(row, compose, open_phases_find(now_open(now), node->name),
	    node, now_ns);
}

static void
put_nodes(struct top_snapshot *to, struct compose *compose,
    const struct now *now, int64_t now_ns)
{
	const struct node_states *states = now_nodes(now);

	take_names(compose, states);
	to->names = top_share(compose->names);
	to->labels = top_share(compose->labels);
	to->node_count = states->count;
	to->nodes = memory_alloc((states->count + 1) * sizeof(*to->nodes));
	memcpy(to->conditions, states->conditions, sizeof(to->conditions));
	for (uint32_t i = 0; i < states->count; i++) {
		const struct node_state *node = &states->at[compose->order[i]];

		put_node(&to->nodes[i], compose, now, node, now_ns);
		if (!isnan(node->spool))
			to->spool += node->spool;
	}
}

/* ---- all ---- */

static void
put_label(char *to, size_t room, struct text phase)
{
	/* Without the model. */
	table_elide(to, room, text_after(phase, ':'), 16);
}

static int
by_open(const void *left, const void *right)
{
	const struct top_phase *a = left, *b = right;

	return (a->open < b->open) - (a->open > b->open);
}

/* Those that most nodes are in. */
static void
put_phases(struct top_snapshot *to, const struct now *now)
{
	uint32_t count;
	const struct phase_row *rows = now_phases(now, &count);
	struct top_phase most[TOP_PHASES_MAX];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct phase_row *row = &rows[i];
		struct top_phase phase = {
			.open = row->numbers[PHASE_OPEN_STARTS],
			.p50 = row->numbers[PHASE_P50],
			.p90 = row->numbers[PHASE_P90],
		};

		if (row->ignores_open || !(phase.open > 0))
			continue;
		put_label(phase.label, sizeof(phase.label), row->phase);
		if (kept == TOP_PHASES_MAX) {
			qsort(most, kept, sizeof(*most), by_open);
			if (most[TOP_PHASES_MAX - 1].open >= phase.open)
				continue;
			kept--;
		}
		most[kept++] = phase;
	}
	qsort(most, kept, sizeof(*most), by_open);
	to->phase_count = kept;
	to->phases = memory_copy(most, kept * sizeof(*most));
}

static void
take_rate(struct compose *compose, const struct partition_row *partition,
    int64_t now_ns)
{
	int64_t ns = now_ns - compose->records_ns;

	if (compose->records_ns == 0)
		compose->records_second = NAN;
	else if (ns < RATE_NS)
		return;
	else
		compose->records_second =
		    partition->records >= compose->records
			? (double)(partition->records - compose->records) /
			      seconds(ns)
			: NAN;
	compose->records = partition->records;
	compose->records_ns = now_ns;
}

struct top_snapshot *
compose_snapshot(struct compose *compose, const struct now *now,
    unsigned changed, int64_t now_ns)
{
	struct top_snapshot *to = top_snapshot_new(now_ns);

	take_labels(
	    compose, now_open(now), now_nodes(now), (changed & NOW_OPEN) != 0);
	take_rate(compose, now_partition(now), now_ns);
	to->records_second = compose->records_second;
	to->known_ns = now_known_ns(now);
	put_nodes(to, compose, now, now_ns);
	put_phases(to, now);
	to->runs = top_share(compose->runs);
	to->pools = top_share(compose->pools);
	to->lines = top_share(compose->lines);
	to->partition = memory_text(now_name(now));
	return to;
}

void
compose_clear(struct compose *compose)
{
	top_unshare(compose->names);
	top_unshare(compose->labels);
	top_unshare(compose->runs);
	top_unshare(compose->pools);
	top_unshare(compose->lines);
	free(compose->order);
	*compose = (struct compose){ .count = 0 };
}
