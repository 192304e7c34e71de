/*
 * phase_late - events of states that are not in memory, and events that are not
 * behind all others of their state.
 *
 * The events around a late one are paired once more: from a place where it is
 * known what waits, up to where the same starts wait with the late ones and
 * without them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/phase_write.h"

#include "proto/base/memory.h"

/* ---- the events of a state in the store ---- */

/* Open the parts of the phase, once. */
static bool
open_parts(struct phase_write *write)
{
	struct part_cursor *parts = &write->indexer_write->parts;

	if (!write->is_open)
		part_cursor_open(parts, write->txn, write->list.partition,
		    write->list.phase, false);
	write->is_open = true;
	return parts->count > 0;
}

/* The events of the next time, in the order of a part. */
struct instant {
	int64_t time_ns;
	uint32_t ends, starts;
};

/* Take an event with its duration, of which only ends have one, and, if it is
 * to be compared with new ones, its node. */
static void
keep(struct indexer_write *to, const struct phase_entry *entry, bool compared)
{
	MEMORY_GROW(to->old, to->old_room, to->old_count);
	if (entry->measured || compared)
		(void)part_cursor_complete(&to->parts);
	to->old[to->old_count] = *entry;
	to->old[to->old_count++].id.body = (struct text){ NULL, 0 };
}

/* Read the events of the next time into to->old; `*next` is the first event
 * behind them.  False: there are none. */
static bool
read_instant(struct indexer_write *to, const struct phase_entry **next,
    bool compared, struct instant *instant)
{
	to->old_count = 0;
	*instant = (struct instant){ .ends = 0 };
	if (*next == NULL)
		return false;
	instant->time_ns = (*next)->id.time_ns;
	while (*next != NULL && (*next)->id.time_ns == instant->time_ns) {
		if ((*next)->is_end)
			instant->ends++;
		else
			instant->starts++;
		keep(to, *next, compared);
		*next = part_cursor_entry(&to->parts);
	}
	return true;
}

/* How much is read of what was before: the newest parts, which usually have
 * enough; all parts; or all events. */
enum reach { REACH_NEWEST, REACH_PARTS, REACH_EVENTS, REACH_END };
enum { NEWEST_PARTS = 4 };

static enum reach
first_reach(const struct phase_write *write)
{
	return write->list.fifo ? REACH_EVENTS : REACH_NEWEST;
}

/* Go to events of the state before `from_ns`; `*missing_ns`: up to this time
 * some may be missing. */
static const struct phase_entry *
go_before(struct phase_write *write, const struct key_phase *key,
    int64_t from_ns, enum reach reach, int64_t *missing_ns)
{
	struct part_cursor *parts = &write->indexer_write->parts;

	*missing_ns = INT64_MIN;
	if (!open_parts(write))
		return NULL;
	*missing_ns = part_cursor_seek_before(parts, key->key_hash, key->scope,
	    reach == REACH_EVENTS ? INT64_MIN : from_ns,
	    reach == REACH_NEWEST ? NEWEST_PARTS : UINT32_MAX);
	return part_cursor_entry(parts);
}

/* After an instant that has only starts, or only ends, what waits does not
 * depend on what was before. */
static bool
settles(const struct instant *instant, int64_t missing_ns)
{
	return instant->time_ns > missing_ns &&
	       (instant->starts == 0 || instant->ends == 0);
}

/* What waits behind an instant, whether or not it was known before. */
static void
pass(
    struct pairer *pairer, const struct instant *instant, bool known, bool fifo)
{
	struct pairer_instant how;

	if (!known)
		pairer_reset(pairer);
	how = pairer_instant(pairer->count, instant->starts, instant->ends);
	pairer_pass(pairer, &how, instant->time_ns, 0, fifo);
}

/* ---- a state that is not in memory ---- */

/* Read the last events; false: what waits remains unknown. */
static bool
read_last(struct phase_write *write, const struct key_phase *key,
    enum reach reach, int64_t *last_ns)
{
	struct indexer_write *to = write->indexer_write;
	int64_t missing_ns;
	const struct phase_entry *next =
	    go_before(write, key, INT64_MAX, reach, &missing_ns);
	bool known = missing_ns == INT64_MIN;
	struct instant instant;

	pairer_reset(&to->pairer);
	*last_ns = INT64_MIN;
	while (read_instant(to, &next, false, &instant)) {
		*last_ns = instant.time_ns;
		if (!known && !settles(&instant, missing_ns))
			continue;
		pass(&to->pairer, &instant, known, write->list.fifo);
		known = true;
	}
	return known;
}

/* May a part have events of this time, or later ones? */
static bool
reaches(const struct part_list *list, int64_t time_ns)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].most_ns >= time_ns)
			return true;
	return false;
}

/* Does what waits matter for the first of the items? */
static bool
depends(const struct phase_write *write, uint32_t from)
{
	const struct indexer_write *to = write->indexer_write;

	return write->list.fifo || to->item[from].entry.is_end;
}

struct phase_state *
phase_write_recall(
    struct phase_write *write, const struct key_phase *key, uint32_t from)
{
	struct indexer_write *to = write->indexer_write;
	int64_t last_ns = INT64_MIN;
	struct phase_state *state;

	pairer_reset(&to->pairer);
	/* A rebuild knows the states of phases without a model only when it
	 * writes them, and so not in their order. */
	if ((!to->is_rebuild || write->list.marks != 0) &&
	    write->list.count > 0 &&
	    (depends(write, from) ||
		reaches(&write->list, to->item[from].entry.id.time_ns)))
		for (enum reach reach = first_reach(write); reach < REACH_END;
		     reach++)
			if (read_last(write, key, reach, &last_ns))
				break;
	state = phase_memory_add(&to->memory, key);
	state->last_ns = last_ns;
	phase_state_put(&to->memory, state, &to->pairer, write->list.fifo);
	return state;
}

/* ---- late events ---- */

static void
add_merged(struct indexer_write *to, const struct phase_entry *entry)
{
	*MEMORY_ADD(to->merged, to->merged_room, to->merged_count) = *entry;
}

/* May the item be added to the instant, which has `count` events of its kind?
 */
static bool
has_room(struct indexer_write *to, const struct part_row_item *item,
    uint32_t count, uint32_t starts, bool fifo)
{
	if (count < PHASE_INSTANT &&
	    (!fifo || item->entry.is_end ||
		to->pairer.count + starts < PAIRER_WAITING_MAX))
		return true;
	to->overflow++;
	return false;
}

/* The instant with the new events: to->merged gets those of to->old and the
 * items from `*from` on that have this time.  Items that are not taken are
 * removed; `*from` is then behind the others. */
static struct instant
merge_instant(
    struct phase_write *write, const struct instant *old, uint32_t *from)
{
	struct indexer_write *to = write->indexer_write;
	struct instant all = *old;
	uint32_t next = 0, at = *from, kept = *from;

	to->merged_count = 0;
	for (; at < to->item_count &&
	       to->item[at].entry.id.time_ns == old->time_ns;
	     at++) {
		const struct part_row_item *item = &to->item[at];
		uint32_t *count = item->entry.is_end ? &all.ends : &all.starts;
		int order = 1;

		while (
		    next < to->old_count &&
		    (order = phase_compare(&to->old[next], &item->entry)) < 0)
			add_merged(to, &to->old[next++]);
		if ((next < to->old_count && order == 0) ||
		    !has_room(to, item, *count, all.starts, write->list.fifo))
			continue; /* it came before, or it is one too many */
		add_merged(to, &item->entry);
		++*count;
		to->item[kept++] = *item;
	}
	while (next < to->old_count)
		add_merged(to, &to->old[next++]);
	memmove(to->item + kept, to->item + at,
	    (to->item_count - at) * sizeof(*to->item));
	to->item_count -= at - kept;
	*from = kept;
	return all;
}

/* Add what the events of an instant amount to. */
static void
sum_instant(struct phase_sum *sum, struct pairer *pairer,
    const struct phase_entry *at, const struct instant *instant, bool fifo)
{
	struct pairer_instant how =
	    pairer_instant(pairer->count, instant->starts, instant->ends);

	for (uint32_t i = 0; i < how.waiting; i++)
		phase_sum_pair(sum,
		    phase_duration(pairer_waiting(pairer, i).time_ns, &at[i]));
	for (uint32_t i = how.waiting; i < how.waiting + how.own; i++)
		phase_sum_pair(sum, phase_duration(instant->time_ns, &at[i]));
	sum->open_ends += instant->ends - how.waiting - how.own;
	sum->open_starts += how.left;
	sum->open_starts -= how.waiting;
	pairer_pass(pairer, &how, instant->time_ns, 0, fifo);
}

/* Go from a place where what waits is known to the first item.  False: it
 * remains unknown. */
static bool
go_to_first(struct phase_write *write, const struct phase_entry **next,
    int64_t first_ns, int64_t missing_ns)
{
	struct indexer_write *to = write->indexer_write;
	bool known = missing_ns == INT64_MIN;
	struct instant old;

	pairer_reset(&to->pairer);
	pairer_reset(&to->other_pairer);
	while (*next != NULL && (*next)->id.time_ns < first_ns) {
		read_instant(to, next, false, &old);
		if (!known && !settles(&old, missing_ns))
			continue;
		pass(&to->pairer, &old, known, write->list.fifo);
		pass(&to->other_pairer, &old, known, write->list.fifo);
		known = true;
	}
	return known;
}

/* Take the next time that has stored events or items. */
static void
take_next(struct phase_write *write, const struct phase_entry **next,
    struct phase_state *state, uint32_t *from)
{
	struct indexer_write *to = write->indexer_write;
	bool fifo = write->list.fifo;
	struct instant old, all;

	if (*from < to->item_count &&
	    (*next == NULL ||
		(*next)->id.time_ns > to->item[*from].entry.id.time_ns)) {
		to->old_count = 0;
		old = (struct instant){ .time_ns =
					    to->item[*from].entry.id.time_ns };
	} else {
		read_instant(to, next,
		    *from < to->item_count &&
			(*next)->id.time_ns == to->item[*from].entry.id.time_ns,
		    &old);
		sum_instant(
		    &to->before, &to->other_pairer, to->old, &old, fifo);
	}
	all = merge_instant(write, &old, from);
	if (all.ends + all.starts > 0)
		sum_instant(&to->after, &to->pairer, to->merged, &all, fifo);
	if (all.ends + all.starts > 0 && all.time_ns > state->last_ns)
		state->last_ns = all.time_ns;
}

/* Pair the events of the state without the items from `from` on, and with
 * them.  False: what waits before them remains unknown, nothing was done. */
static bool
pair_again(struct phase_write *write, struct phase_state *state, uint32_t from,
    enum reach reach)
{
	struct indexer_write *to = write->indexer_write;
	int64_t missing_ns, first_ns = to->item[from].entry.id.time_ns;
	const struct phase_entry *next =
	    go_before(write, &state->key, first_ns, reach, &missing_ns);

	phase_sum_reset(&to->before);
	phase_sum_reset(&to->after);
	if (!go_to_first(write, &next, first_ns, missing_ns))
		return false;
	/* When the same starts wait, the rest is as it was. */
	while (from < to->item_count ||
	       (next != NULL && !pairer_equal(&to->pairer, &to->other_pairer)))
		take_next(write, &next, state, &from);
	if (next == NULL)
		phase_state_put(
		    &to->memory, state, &to->pairer, write->list.fifo);
	return true;
}

void
phase_write_late(
    struct phase_write *write, struct phase_state *state, uint32_t from)
{
	struct indexer_write *to = write->indexer_write;

	for (enum reach reach = first_reach(write); reach < REACH_END; reach++)
		if (pair_again(write, state, from, reach))
			break;
	phase_sum_replace(to->stats, &to->before, &to->after);
}
