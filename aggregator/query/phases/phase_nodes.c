/*
 * phase_nodes - the events of a phase, summed by node (or run).
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phase_nodes.h"

#include <stdlib.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

enum what { PAIR, START, END };

struct phase_nodes_item {
	uint32_t scope;
	enum what what;
	int64_t duration;
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
	part_cursor_clear(&phase_nodes->parts);
	phase_items_clear(&phase_nodes->phase_items);
	phase_nodes_forget(phase_nodes);
}

/* ---- collecting items ---- */

static int
by_scope(const void *left, const void *right)
{
	const struct phase_nodes_item *a = left, *b = right;

	return a->scope < b->scope ? -1 : a->scope > b->scope;
}

static void
sum_up(struct phase_nodes *phase_nodes, const struct phase_nodes_item *item)
{
	if (item->what == PAIR)
		duration_stats_add(phase_nodes->stats, item->duration);
	phase_nodes->stats->open_starts += item->what == START;
	phase_nodes->stats->open_ends += item->what == END;
}

/* A walk over the states of some nodes, from scope_first to scope_last, which
 * goes down while the memory is full. */
struct walk {
	uint32_t scope_first, scope_last;
	bool alone; /* items of scope_last are summed, and not collected */
};

/* The memory is full: leave the upper half of the nodes for another walk, or,
 * when all items belong to one node, sum them directly. */
static void
halve(struct phase_nodes *phase_nodes, struct walk *walk)
{
	uint32_t lowest, middle, i;

	qsort(phase_nodes->items, phase_nodes->count,
	    sizeof(*phase_nodes->items), by_scope);
	lowest = phase_nodes->items[0].scope;
	middle = phase_nodes->items[phase_nodes->count / 2].scope;
	walk->scope_last = middle > lowest ? middle - 1 : lowest;
	while (
	    phase_nodes->items[phase_nodes->count - 1].scope > walk->scope_last)
		phase_nodes->count--;
	walk->alone = middle == lowest;
	if (!walk->alone)
		return;
	duration_stats_reset(phase_nodes->stats);
	for (i = 0; i < phase_nodes->count; i++)
		sum_up(phase_nodes, &phase_nodes->items[i]);
	phase_nodes->count = 0;
}

static void
add(struct phase_nodes *phase_nodes, struct walk *walk,
    const struct phase_nodes_item *item)
{
	if (item->scope > walk->scope_last)
		return; /* the memory became full in this state */
	if (walk->alone && item->scope == walk->scope_last) {
		sum_up(phase_nodes, item);
		return;
	}
	if (walk->alone) { /* a lower node: leave that one for later */
		walk->scope_last--;
		walk->alone = false;
	}
	phase_nodes->items[phase_nodes->count++] = *item;
	if (phase_nodes->count == phase_nodes->room)
		halve(phase_nodes, walk);
}

/* Collect the items of the lowest nodes. */
static void
collect(struct phase_nodes *phase_nodes, struct db_txn *txn, struct walk *walk)
{
	struct part_cursor *parts = &phase_nodes->parts;
	const struct phase_entry *start, *end;

	phase_nodes->count = 0;
	if (part_cursor_open(
		parts, txn, phase_nodes->partition, phase_nodes->phase, true))
		part_cursor_seek(parts, 0, 0, INT64_MIN);
	while (parts->count > 0 && part_cursor_state(parts)) {
		struct phase_nodes_item item = { .scope = parts->scope };

		if (item.scope < walk->scope_first ||
		    item.scope > walk->scope_last)
			continue;
		phase_items_begin(&phase_nodes->phase_items, parts);
		while (
		    phase_items_next(&phase_nodes->phase_items, &start, &end)) {
			item.what = start == NULL ? END
				    : end == NULL ? START
						  : PAIR;
			if (item.what == PAIR)
				item.duration =
				    phase_duration(start->id.time_ns, end);
			add(phase_nodes, walk, &item);
		}
	}
	part_cursor_close(parts);
}

/* ---- sums ---- */

static void
put_sum(struct phase_nodes *phase_nodes, uint32_t scope)
{
	varint_put(&phase_nodes->sums, scope);
	duration_stats_encode(phase_nodes->stats, &phase_nodes->sums);
}

/* Sum the collected items of as many nodes as there is memory for. */
static void
put_sums(struct phase_nodes *phase_nodes)
{
	uint32_t i = 0, scope;

	qsort(phase_nodes->items, phase_nodes->count,
	    sizeof(*phase_nodes->items), by_scope);
	while (i < phase_nodes->count) {
		if (phase_nodes->sums.bytes > phase_nodes->sum_room) {
			phase_nodes->last = phase_nodes->items[i].scope - 1;
			return;
		}
		scope = phase_nodes->items[i].scope;
		duration_stats_reset(phase_nodes->stats);
		for (; i < phase_nodes->count &&
		       phase_nodes->items[i].scope == scope;
		     i++)
			sum_up(phase_nodes, &phase_nodes->items[i]);
		put_sum(phase_nodes, scope);
	}
}

static void
fill(struct phase_nodes *phase_nodes, struct db_txn *txn, uint32_t first,
    uint32_t last)
{
	struct walk walk = { .scope_first = first, .scope_last = last };

	phase_nodes_forget(phase_nodes);
	if (phase_nodes->room == 0)
		phase_nodes->room = PHASE_NODES_ITEMS;
	if (phase_nodes->sum_room == 0)
		phase_nodes->sum_room = PHASE_NODES_SUM_BYTES;
	phase_nodes->items =
	    memory_alloc(phase_nodes->room * sizeof(*phase_nodes->items));
	phase_nodes->first = first;
	collect(phase_nodes, txn, &walk);
	phase_nodes->last = walk.scope_last;
	if (walk.alone)
		put_sum(phase_nodes, walk.scope_last);
	put_sums(phase_nodes);
	free(phase_nodes->items);
	phase_nodes->items = NULL;
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
