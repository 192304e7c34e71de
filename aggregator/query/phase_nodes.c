/*
 * phase_nodes - the states of a phase summed up by node (or run).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phase_nodes.h"

#include <stdlib.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/tables.h"

struct nodes_state {
	uint32_t scope, bytes;
	const char *at; /* in the map, as long as the transaction */
};

void
nodes_forget(struct nodes *nodes)
{
	nodes->first = nodes->last = 0;
	nodes->sums.bytes = nodes->given = nodes->taken_at = 0;
	nodes->taken = nodes->before = 0;
}

void
nodes_clear(struct nodes *nodes)
{
	buffer_clear(&nodes->sums);
	phase_state_clear(&nodes->state);
	nodes_forget(nodes);
}

/* ---- which states ---- */

static int
by_scope(const void *left, const void *right)
{
	const struct nodes_state *a = left, *b = right;

	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void
sum_up(struct nodes *nodes, const struct nodes_state *state)
{
	if (phase_state_decode(&nodes->state,
		(struct text){ state->at, state->bytes }, state->scope))
		phase_state_sum(&nodes->state, nodes->stats);
}

/* The room is full: the upper half of the nodes must wait for another walk.
 * True when there is but one node: it is summed up as it comes. */
static bool
halve(struct nodes *nodes, struct states *walk)
{
	uint32_t lowest, middle, i;

	qsort(nodes->states, nodes->count, sizeof(*nodes->states), by_scope);
	lowest = nodes->states[0].scope;
	middle = nodes->states[nodes->count / 2].scope;
	walk->scope_last = middle > lowest ? middle - 1 : lowest;
	while (nodes->states[nodes->count - 1].scope > walk->scope_last)
		nodes->count--;
	if (middle > lowest)
		return false;
	stats_reset(nodes->stats);
	for (i = 0; i < nodes->count; i++)
		sum_up(nodes, &nodes->states[i]);
	nodes->count = 0;
	return true;
}

/* The states of the lowest nodes from walk->scope_first on, all of these
 * nodes', up to walk->scope_last.  True when the last of them is in
 * nodes->stats and not among the states. */
static bool
collect(struct nodes *nodes, struct states *walk, struct db_cursor *cursor,
    uint32_t first, uint32_t last)
{
	struct key_phase from = { nodes->partition, nodes->phase, 0, 0 };
	bool alone = false, more;

	nodes->count = 0;
	more = states_begin(walk, cursor, &from, first, last);
	for (; more; more = states_next(walk)) {
		struct nodes_state state = { walk->at.scope, walk->value.bytes,
			walk->value.at };

		if (alone && state.scope == walk->scope_last) {
			sum_up(nodes, &state);
			continue;
		}
		if (alone) { /* a lower one: the one so far must wait */
			walk->scope_last--;
			alone = false;
		}
		nodes->states[nodes->count++] = state;
		if (nodes->count == nodes->room)
			alone = halve(nodes, walk);
	}
	return alone;
}

/* ---- their sums ---- */

static void
put_sum(struct nodes *nodes, uint32_t scope)
{
	put_varint(&nodes->sums, scope);
	stats_encode(nodes->stats, &nodes->sums);
}

/* Sums of the collected states, as many as there is room for. */
static void
put_sums(struct nodes *nodes)
{
	uint32_t i = 0, scope;

	qsort(nodes->states, nodes->count, sizeof(*nodes->states), by_scope);
	while (i < nodes->count) {
		if (nodes->sums.bytes > nodes->sum_room) {
			nodes->last = nodes->states[i].scope - 1;
			return;
		}
		scope = nodes->states[i].scope;
		stats_reset(nodes->stats);
		for (; i < nodes->count && nodes->states[i].scope == scope; i++)
			sum_up(nodes, &nodes->states[i]);
		put_sum(nodes, scope);
	}
}

static void
fill(struct nodes *nodes, struct db_txn *txn, uint32_t first, uint32_t last)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct states walk;

	nodes_forget(nodes);
	if (nodes->room == 0)
		nodes->room = NODES_STATES;
	if (nodes->sum_room == 0)
		nodes->sum_room = NODES_SUM_BYTES;
	nodes->states = malloc(nodes->room * sizeof(*nodes->states));
	if (nodes->states == NULL)
		abort();
	nodes->first = first;
	if (collect(nodes, &walk, cursor, first, last))
		put_sum(nodes, walk.scope_last);
	nodes->last = walk.scope_last;
	put_sums(nodes);
	free(nodes->states);
	nodes->states = NULL;
	db_cursor_close(&cursor);
}

/* The next of the sums that wait, from `*number` on. */
static bool
take(struct nodes *nodes, uint32_t *number)
{
	struct unpack u = unpack_of(buffer_text(&nodes->sums));
	const unsigned char *begin = u.at;

	/* Asked again for one that did not fit the page before. */
	if (*number <= nodes->before)
		nodes->given = nodes->taken_at = nodes->taken = 0;
	else if (*number <= nodes->taken)
		nodes->given = nodes->taken_at;
	u.at += nodes->given;
	while (u.at < u.end && !u.bad) {
		nodes->before = nodes->taken;
		nodes->taken_at = (size_t)(u.at - begin);
		nodes->taken = get_u32(&u);
		stats_reset(nodes->stats);
		stats_decode(nodes->stats, &u);
		nodes->given = (size_t)(u.at - begin);
		if (nodes->taken >= *number) {
			*number = nodes->taken;
			return true;
		}
	}
	return false;
}

bool
nodes_next(struct nodes *nodes, struct db_txn *txn, uint32_t partition,
    uint32_t phase, uint32_t *number, uint32_t last)
{
	for (;;) {
		if (nodes->partition != partition || nodes->phase != phase ||
		    *number < nodes->first || *number > nodes->last) {
			nodes->partition = partition;
			nodes->phase = phase;
			fill(nodes, txn, *number, last);
		}
		if (take(nodes, number))
			return *number <= last;
		if (nodes->last >= last)
			return false;
		*number = nodes->last + 1;
	}
}
