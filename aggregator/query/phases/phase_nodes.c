/*
 * phase_nodes - the rows of a phase, summed by node (or run).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phase_nodes.h"

#include <stdlib.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

struct phase_nodes_state {
	uint32_t scope, bytes;
	const char *at; /* in the map, valid until the transaction ends */
};

void
phase_nodes_forget(struct phase_nodes *phase_nodes)
{
	phase_nodes->first = phase_nodes->last = 0;
	phase_nodes->sums.bytes = phase_nodes->given = phase_nodes->taken_at =
	    0;
	phase_nodes->taken = phase_nodes->before = 0;
}

void
phase_nodes_clear(struct phase_nodes *phase_nodes)
{
	buffer_clear(&phase_nodes->sums);
	phase_row_clear(&phase_nodes->row);
	phase_nodes_forget(phase_nodes);
}

/* ---- collecting states ---- */

static int
by_scope(const void *left, const void *right)
{
	const struct phase_nodes_state *a = left, *b = right;

	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void
sum_up(struct phase_nodes *phase_nodes, const struct phase_nodes_state *state)
{
	if (phase_row_decode(&phase_nodes->row,
		(struct text){ state->at, state->bytes }, state->scope))
		phase_row_sum(&phase_nodes->row, phase_nodes->stats);
}

/* The memory is full: leave the upper half of the nodes for another walk.
 * True when all states belong to one node, which is then summed directly. */
static bool
halve(struct phase_nodes *phase_nodes, struct phase_states *walk)
{
	uint32_t lowest, middle, i;

	qsort(phase_nodes->states, phase_nodes->count,
	    sizeof(*phase_nodes->states), by_scope);
	lowest = phase_nodes->states[0].scope;
	middle = phase_nodes->states[phase_nodes->count / 2].scope;
	walk->scope_last = middle > lowest ? middle - 1 : lowest;
	while (phase_nodes->states[phase_nodes->count - 1].scope >
	       walk->scope_last)
		phase_nodes->count--;
	if (middle > lowest)
		return false;
	duration_stats_reset(phase_nodes->stats);
	for (i = 0; i < phase_nodes->count; i++)
		sum_up(phase_nodes, &phase_nodes->states[i]);
	phase_nodes->count = 0;
	return true;
}

/* Collect all states of the lowest nodes, from walk->scope_first to
 * walk->scope_last. True: the states of the last of these nodes are summed in
 * phase_nodes->stats and not collected. */
static bool
collect(struct phase_nodes *phase_nodes, struct phase_states *walk,
    struct db_cursor *cursor, uint32_t first, uint32_t last)
{
	struct key_phase from = { phase_nodes->partition, phase_nodes->phase, 0,
		0 };
	bool alone = false, more;

	phase_nodes->count = 0;
	more = phase_states_begin(walk, cursor, &from, NULL, first, last);
	for (; more; more = phase_states_next(walk)) {
		struct phase_nodes_state state = { walk->at.scope,
			walk->value.bytes, walk->value.at };

		if (alone && state.scope == walk->scope_last) {
			sum_up(phase_nodes, &state);
			continue;
		}
		if (alone) { /* a lower node: leave the previous one for later
			      */
			walk->scope_last--;
			alone = false;
		}
		phase_nodes->states[phase_nodes->count++] = state;
		if (phase_nodes->count == phase_nodes->room)
			alone = halve(phase_nodes, walk);
	}
	return alone;
}

/* ---- sums ---- */

static void
put_sum(struct phase_nodes *phase_nodes, uint32_t scope)
{
	varint_put(&phase_nodes->sums, scope);
	duration_stats_encode(phase_nodes->stats, &phase_nodes->sums);
}

/* Sum the collected states of as many nodes as there is memory for. */
static void
put_sums(struct phase_nodes *phase_nodes)
{
	uint32_t i = 0, scope;

	qsort(phase_nodes->states, phase_nodes->count,
	    sizeof(*phase_nodes->states), by_scope);
	while (i < phase_nodes->count) {
		if (phase_nodes->sums.bytes > phase_nodes->sum_room) {
			phase_nodes->last = phase_nodes->states[i].scope - 1;
			return;
		}
		scope = phase_nodes->states[i].scope;
		duration_stats_reset(phase_nodes->stats);
		for (; i < phase_nodes->count &&
		       phase_nodes->states[i].scope == scope;
		     i++)
			sum_up(phase_nodes, &phase_nodes->states[i]);
		put_sum(phase_nodes, scope);
	}
}

static void
fill(struct phase_nodes *phase_nodes, struct db_txn *txn, uint32_t first,
    uint32_t last)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	struct phase_states walk;

	phase_nodes_forget(phase_nodes);
	if (phase_nodes->room == 0)
		phase_nodes->room = PHASE_NODES_STATES;
	if (phase_nodes->sum_room == 0)
		phase_nodes->sum_room = PHASE_NODES_SUM_BYTES;
	phase_nodes->states =
	    memory_alloc(phase_nodes->room * sizeof(*phase_nodes->states));
	phase_nodes->first = first;
	if (collect(phase_nodes, &walk, cursor, first, last))
		put_sum(phase_nodes, walk.scope_last);
	phase_nodes->last = walk.scope_last;
	put_sums(phase_nodes);
	free(phase_nodes->states);
	phase_nodes->states = NULL;
	db_cursor_close(&cursor);
}

/* Take the next cached sum from `*number` on. */
static bool
take(struct phase_nodes *phase_nodes, uint32_t *number)
{
	struct varint_reader u =
	    varint_reader_of(buffer_text(&phase_nodes->sums));
	const unsigned char *begin = u.at;

	/* The last sum did not fit in the page and is requested again. */
	if (*number <= phase_nodes->before)
		phase_nodes->given = phase_nodes->taken_at =
		    phase_nodes->taken = 0;
	else if (*number <= phase_nodes->taken)
		phase_nodes->given = phase_nodes->taken_at;
	u.at += phase_nodes->given;
	while (u.at < u.end && !u.bad) {
		phase_nodes->before = phase_nodes->taken;
		phase_nodes->taken_at = (size_t)(u.at - begin);
		phase_nodes->taken = varint_get_u32(&u);
		duration_stats_reset(phase_nodes->stats);
		duration_stats_decode(phase_nodes->stats, &u);
		phase_nodes->given = (size_t)(u.at - begin);
		if (phase_nodes->taken >= *number) {
			*number = phase_nodes->taken;
			return true;
		}
	}
	return false;
}

bool
phase_nodes_next(struct phase_nodes *phase_nodes, struct db_txn *txn,
    uint32_t partition, uint32_t phase, uint32_t *number, uint32_t last)
{
	for (;;) {
		if (phase_nodes->partition != partition ||
		    phase_nodes->phase != phase ||
		    *number < phase_nodes->first ||
		    *number > phase_nodes->last) {
			phase_nodes->partition = partition;
			phase_nodes->phase = phase;
			fill(phase_nodes, txn, *number, last);
		}
		if (take(phase_nodes, number))
			return *number <= last;
		if (phase_nodes->last >= last)
			return false;
		*number = phase_nodes->last + 1;
	}
}
