/*
 * phase_own - events of phases without a model: they get their key when the
 * transaction is written, and with it their state.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/phase_write.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

/* A value that an event has for a key. */
struct seen {
	uint64_t value; /* its hash */
	int64_t time_ns;
	uint32_t node;
	uint8_t key;
	bool is_end;
};

struct own_write {
	struct indexer_write *indexer_write;
	struct db_txn *txn;
	struct collect *collect;
	struct part_list list;
	struct own_phase_words words;
	struct own_phase_values values;
	unsigned key;        /* of the phase */
	uint32_t carried;    /* marks of what new events have had */
	uint32_t candidates; /* for the key, of which values are looked at: */
	struct seen *seen;
	uint32_t count, room;
};

/* ---- all events of the phase ---- */

typedef void take_entry(struct own_write *own, const struct phase_entry *entry);

static void
each_stored(struct own_write *own, take_entry *take)
{
	struct part_cursor *cursor = &own->indexer_write->parts;
	const struct phase_entry *entry;

	if (part_cursor_open(
		cursor, own->txn, own->list.partition, own->list.phase, true))
		part_cursor_seek(cursor, 0, 0, INT64_MIN);
	while (cursor->count > 0 && part_cursor_state(cursor)) {
		heartbeat_beat();
		while ((entry = part_cursor_entry(cursor)) != NULL)
			take(own, entry);
	}
	part_cursor_close(cursor);
}

/* The events of a transaction are the members of groups. */
static void
each_new(struct own_write *own, const struct group *group, uint32_t count,
    take_entry *take)
{
	const struct collect *collect = own->collect;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t member = group[i].first; member != GROUP_END;
		     member = group_next(&collect->own, member))
			take(own, &collect->role[member].entry);
}

/* ---- the key ---- */

static void
get_values(struct own_write *own, const struct phase_entry *entry)
{
	own_phase_get_values(&own->values, &own->words, entry->id.body);
}

static void
mark(struct own_write *own, const struct phase_entry *entry)
{
	get_values(own, entry);
	own->carried |= own_phase_carried(&own->values, entry->is_end);
}

static void
see(struct own_write *own, const struct phase_entry *entry)
{
	get_values(own, entry);
	for (unsigned key = 0; key < OWN_PHASE_KEYS; key++) {
		struct text value = own->values.at[key];

		if ((own->candidates & 1u << key) == 0 || value.bytes == 0)
			continue;
		*MEMORY_ADD(own->seen, own->room, own->count) =
		    (struct seen){ hash_bytes(own->collect->hash_key, value.at,
				       value.bytes),
			    entry->id.time_ns, entry->node, (uint8_t)key,
			    entry->is_end };
	}
}

/* By key, node and value; then by time, starts first. */
static int
compare_values(const struct seen *a, const struct seen *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

static int
compare(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;
	int order = compare_values(a, b);

	if (order == 0)
		order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
	return order != 0 ? order : a->is_end - b->is_end;
}

/* Of which candidates did a start and a later end have the same value? */
static void
mark_shared(struct own_write *own, const struct group *group, uint32_t count)
{
	own->count = 0;
	each_new(own, group, count, see);
	each_stored(own, see);
	if (own->count > 0)
		qsort(own->seen, own->count, sizeof(*own->seen), compare);
	for (uint32_t i = 1; i < own->count; i++) {
		const struct seen *end = &own->seen[i], *start = end - 1;

		if (end->is_end && !start->is_end &&
		    compare_values(start, end) == 0)
			own->list.marks |= own_phase_shared(end->key);
	}
}

/* ---- their states ---- */

/* Give a role its key, and add it to its state. */
static void
add_role(struct own_write *own, uint32_t number)
{
	struct collect *collect = own->collect;
	const struct phase_entry *entry = &collect->role[number].entry;
	struct key_phase state = { .partition = own->list.partition,
		.phase = own->list.phase,
		.scope = entry->node };
	struct text value = { NULL, 0 };

	get_values(own, entry);
	if (own->key < OWN_PHASE_KEYS)
		value = own->values.at[own->key];
	collect->role[number].key =
	    match_take_key(collect, value, &state.key_hash);
	match_add_to_state(collect, &state, number);
}

static void
add_stored(struct own_write *own, const struct phase_entry *entry)
{
	struct collect_role role = { .entry = *entry };

	role.entry.id.body = arena_text(&own->collect->arena, entry->id.body);
	add_role(own, collect_add_role(own->collect, &role));
}

/* Take the stored events of the phase once more, with another key. */
static void
take_again(struct own_write *own)
{
	struct indexer_write *to = own->indexer_write;
	struct part_list *list = &own->list;

	each_stored(own, add_stored);
	while (list->count > 0)
		part_list_delete(
		    list, own->txn, list->at[list->count - 1].number);
	duration_stats_reset(to->stats);
	indexer_write_put_stats(
	    to, own->txn, list->partition, list->phase, to->stats);
	phase_memory_forget(&to->memory);
	part_list_renew(list);
}

/* ---- a phase ---- */

static uint64_t
events_of(const struct part_list *list)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < list->count; i++)
		events += list->at[i].events;
	return events;
}

/* Learn from new events of the phase what it is like. */
static void
learn(struct own_write *own, const struct group *group, uint32_t count)
{
	struct part_list *list = &own->list;
	uint64_t events;
	uint32_t before;

	if (own->words.partition != group->key[0])
		own_phase_words_find(&own->words, own->txn, group->key[0]);
	if (!part_list_get(list, own->txn, group->key[0], group->key[1]))
		part_list_renew(list);
	before = list->marks;
	events = events_of(list);
	own->carried = 0;
	each_new(own, group, count, mark);
	list->marks |= own->carried;
	for (uint32_t i = 0; i < count; i++)
		list->marks |= group[i].key[2];
	own->candidates =
	    own_phase_candidates(list->marks, own->carried, events);
	if (own->candidates != 0)
		mark_shared(own, group, count);
	own->key = own_phase_key(list->marks);
	if (events > OWN_PHASE_EVENTS && own->key != own_phase_key(before)) {
		own->key = own_phase_key(before);
		return;
	}
	if (events > 0 && own->key != own_phase_key(before))
		take_again(own);
	if (list->marks != before)
		part_list_put(list, own->txn);
}

void
phase_write_own(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect)
{
	struct own_write own = {
		.indexer_write = indexer_write, .txn = txn, .collect = collect
	};
	struct groups *groups = &collect->own;
	uint32_t from, to;

	groups_sort(groups);
	for (from = 0; from < groups->count; from = to) {
		const struct group *first = &groups->at[from];

		for (to = from; to < groups->count; to++)
			if (groups->at[to].key[0] != first->key[0] ||
			    groups->at[to].key[1] != first->key[1])
				break;
		learn(&own, first, to - from);
		for (uint32_t i = from; i < to; i++)
			for (uint32_t member = groups->at[i].first;
			     member != GROUP_END;
			     member = group_next(groups, member))
				add_role(&own, member);
	}
	part_list_clear(&own.list);
	free(own.seen);
}
