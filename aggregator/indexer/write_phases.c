/*
 * write_phases - add the events of a transaction to the phases: their
 * statistics, and a part with them.
 *
 * The groups come in the order of the states, which is that of a part.  An
 * event behind all others of its state changes the statistics by what
 * phase_memory has; for any other one the events around it are read.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/phase_write.h"

#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

enum {
	AHEAD = 8, /* groups between the fetch of a state and its use */
	BEAT_ITEMS = 64 << 10, /* read between two signs of life */
};

/* ---- stored statistics ---- */

static struct text
stats_key(unsigned char to[static 8], uint32_t partition, uint32_t phase)
{
	varint_put_u32_be(to, partition);
	varint_put_u32_be(to + 4, phase);
	return (struct text){ (const char *)to, 8 };
}

void
indexer_write_get_stats(struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats)
{
	unsigned char key[8];
	struct text value;
	struct varint_reader u;

	duration_stats_reset(stats);
	if (!db_get(
		txn, TABLES_STATS, stats_key(key, partition, phase), &value))
		return;
	u = varint_reader_of(value);
	duration_stats_decode(stats, &u);
}

void
indexer_write_put_stats(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct duration_stats *stats)
{
	unsigned char key[8];

	indexer_write->value.bytes = 0;
	duration_stats_encode(stats, &indexer_write->value);
	db_put(txn, TABLES_STATS, stats_key(key, partition, phase),
	    buffer_text(&indexer_write->value));
}

void
indexer_write_sum_phase(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, struct duration_stats *stats)
{
	struct part_cursor *cursor = &indexer_write->parts;
	struct phase_items *items = &indexer_write->items;
	const struct phase_entry *start, *end;
	uint64_t read = 0;

	duration_stats_reset(stats);
	if (part_cursor_open(cursor, txn, partition, phase, true))
		part_cursor_seek(cursor, 0, 0, INT64_MIN);
	while (cursor->count > 0 && part_cursor_state(cursor)) {
		phase_items_begin(items, cursor);
		while (phase_items_next(items, &start, &end)) {
			if (++read % BEAT_ITEMS == 0)
				heartbeat_beat();
			stats->open_starts += end == NULL;
			stats->open_ends += start == NULL;
			if (start != NULL && end != NULL)
				duration_stats_add(stats,
				    phase_duration(start->id.time_ns, end));
		}
	}
	part_cursor_close(cursor);
}

/* ---- events behind all others ---- */

/* How many of the events are ends, which come first. */
static uint32_t
ends_of(const struct part_row_item *item, uint32_t count)
{
	uint32_t ends = 0;

	while (ends < count && item[ends].entry.is_end)
		ends++;
	return ends;
}

/* Add what the events of one time amount to. */
static void
take_instant(struct phase_write *write, const struct part_row_item *item,
    uint32_t ends, uint32_t starts)
{
	struct duration_stats *stats = write->indexer_write->stats;
	struct pairer *pairer = &write->indexer_write->pairer;
	struct pairer_instant how = pairer_instant(pairer->count, starts, ends);
	int64_t time_ns = item[0].entry.id.time_ns;

	for (uint32_t i = 0; i < how.waiting; i++)
		duration_stats_add(
		    stats, phase_duration(pairer_waiting(pairer, i).time_ns,
			       &item[i].entry));
	for (uint32_t i = how.waiting; i < how.waiting + how.own; i++)
		duration_stats_add(
		    stats, phase_duration(time_ns, &item[i].entry));
	stats->open_ends += ends - how.waiting - how.own;
	stats->open_starts += how.left;
	stats->open_starts -= how.waiting;
	pairer_pass(pairer, &how, time_ns, 0, write->list.fifo);
}

/* How many of the events of one time are stored. */
static uint32_t
limit(struct phase_write *write, uint32_t count, uint32_t max)
{
	if (count <= max)
		return count;
	write->indexer_write->overflow += count - max;
	return max;
}

/* Take the items from `from` on, which are of one state. */
static void
take_in_order(
    struct phase_write *write, struct phase_state *state, uint32_t from)
{
	struct indexer_write *to = write->indexer_write;
	uint32_t at = from, kept = from, next;

	phase_state_get(state, &to->pairer);
	for (; at < to->item_count; at = next) {
		int64_t time_ns = to->item[at].entry.id.time_ns;
		uint32_t ends, all, starts;

		for (next = at + 1; next < to->item_count; next++)
			if (to->item[next].entry.id.time_ns != time_ns)
				break;
		all = ends_of(to->item + at, next - at);
		ends = limit(write, all, PHASE_INSTANT);
		starts = limit(write, next - at - all,
		    PHASE_INSTANT < PAIRER_WAITING_MAX - to->pairer.count
			? PHASE_INSTANT
			: PAIRER_WAITING_MAX - to->pairer.count);
		memmove(
		    to->item + kept, to->item + at, ends * sizeof(*to->item));
		memmove(to->item + kept + ends, to->item + at + all,
		    starts * sizeof(*to->item));
		if (ends + starts > 0)
			take_instant(write, to->item + kept, ends, starts);
		kept += ends + starts;
		state->last_ns = time_ns;
	}
	to->item_count = kept;
	phase_state_put(&to->memory, state, &to->pairer, write->list.fifo);
}

/* ---- a state ---- */

/* Copy the events of a group behind the items; those that retention would
 * delete are left out. */
static void
copy_group(struct phase_write *write, struct collect *collect,
    const struct group *group)
{
	struct indexer_write *to = write->indexer_write;
	const struct key_phase key = match_key(group);

	for (uint32_t member = group->first; member != GROUP_END;
	     member = group_next(&collect->states, member)) {
		const struct collect_role *role = &collect->role[member];

		if (role->entry.id.time_ns < write->list.cut_ns)
			continue;
		*MEMORY_ADD(to->item, to->item_room, to->item_count) =
		    (struct part_row_item){ key.key_hash, key.scope, role->key,
			    role->entry };
	}
}

static void
take_group(struct phase_write *write, struct collect *collect,
    const struct group *group)
{
	struct indexer_write *to = write->indexer_write;
	const struct key_phase key = match_key(group);
	uint32_t from = to->item_count;
	struct phase_state *state;

	copy_group(write, collect, group);
	if (to->item_count == from)
		return;
	state = phase_memory_find(&to->memory, &key);
	if (state == NULL)
		state = phase_write_recall(write, &key, from);
	if (to->item[from].entry.id.time_ns > state->last_ns)
		take_in_order(write, state, from);
	else
		phase_write_late(write, state, from);
}

/* ---- a phase ---- */

static void
begin_phase(struct phase_write *write, const struct collect *collect,
    const struct group *group)
{
	struct indexer_write *to = write->indexer_write;
	uint32_t partition = group->key[0], phase = group->key[1];

	if (!part_list_get(&write->list, write->txn, partition, phase)) {
		write->list.fifo = collect->role[group->first].fifo;
		part_list_renew(&write->list);
	}
	write->is_open = false;
	to->item_count = 0;
	indexer_write_get_stats(write->txn, partition, phase, to->stats);
}

static void
end_phase(struct phase_write *write)
{
	struct indexer_write *to = write->indexer_write;
	struct part_list *list = &write->list;

	if (list->partition == 0)
		return;
	part_cursor_close(&to->parts);
	if (to->item_count > 0) {
		phase_write_part(write);
		part_list_put(list, write->txn);
	}
	/* A shortest or longest duration was removed: find the next one. */
	if (to->stats->loose)
		indexer_write_sum_phase(
		    to, write->txn, list->partition, list->phase, to->stats);
	indexer_write_put_stats(
	    to, write->txn, list->partition, list->phase, to->stats);
}

static int
compare(const void *left, const void *right, void *arg)
{
	const struct collect *collect = arg;

	return phase_compare(&collect->role[*(const uint32_t *)left].entry,
	    &collect->role[*(const uint32_t *)right].entry);
}

/* States are far apart in memory. */
static void
fetch(const struct indexer_write *indexer_write, const struct group *group)
{
	const struct key_phase key = match_key(group);

	phase_memory_prefetch(&indexer_write->memory, &key);
}

void
indexer_write_phases(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect)
{
	struct phase_write write = { .indexer_write = indexer_write,
		.txn = txn };

	if (collect->own.count > 0)
		phase_write_own(indexer_write, txn, collect);
	groups_sort(&collect->states);
	for (uint32_t i = 0; i < collect->states.count; i++) {
		struct group *group = &collect->states.at[i];

		if (i + AHEAD < collect->states.count)
			fetch(indexer_write, group + AHEAD);
		if (group->mixed)
			group_order(&collect->states, group, compare, collect);
		if (group->key[0] != write.list.partition ||
		    group->key[1] != write.list.phase) {
			end_phase(&write);
			begin_phase(&write, collect, group);
		}
		take_group(&write, collect, group);
	}
	end_phase(&write);
	part_list_clear(&write.list);
}
