/*
 * phase_items - pairs, and starts and ends that are alone.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase_items.h"

#include <stdlib.h>

#include "proto/base/memory.h"

#define NONE UINT64_MAX

struct phase_items_event {
	struct phase_entry entry;
	char *body;
	uint64_t partner; /* its number; NONE */
	bool known;       /* whether it has one */
	/* Of a start whose end has the same time, and so came before it. */
	struct phase_items_event *early;
};

static struct phase_items_event *
event_of(struct phase_items *items, uint64_t number)
{
	return &items->at[items->first + (uint32_t)(number - items->number)];
}

static void
drop_first(struct phase_items *items)
{
	struct phase_items_event *event = &items->at[items->first];

	if (event->early != NULL)
		free(event->early->body);
	free(event->early);
	free(event->body);
	items->first++;
	items->count--;
	items->number++;
}

static void
empty(struct phase_items *items)
{
	while (items->count > 0)
		drop_first(items);
	items->first = 0;
}

void
phase_items_clear(struct phase_items *items)
{
	empty(items);
	free(items->at);
	pairer_clear(&items->pairer);
	*items = (struct phase_items){ .cursor = NULL };
}

void
phase_items_begin(struct phase_items *items, struct part_cursor *cursor)
{
	empty(items);
	pairer_reset(&items->pairer);
	items->cursor = cursor;
	items->number = 0;
	items->instant = 0;
	items->ended = items->given = false;
}

static void
add(struct phase_items *items, const struct phase_entry *entry)
{
	struct phase_items_event *event;

	if (items->first > 0 && items->first + items->count == items->room) {
		memmove(items->at, items->at + items->first,
		    items->count * sizeof(*items->at));
		items->first = 0;
	}
	MEMORY_GROW(items->at, items->room, items->first + items->count);
	event = &items->at[items->first + items->count++];
	*event = (struct phase_items_event){ .entry = *entry, .partner = NONE };
	if (entry->id.body.bytes > 0) {
		event->body =
		    memory_copy(entry->id.body.at, entry->id.body.bytes);
		event->entry.id.body.at = event->body;
	}
}

static void
join(struct phase_items *items, uint64_t start, uint64_t end)
{
	event_of(items, start)->partner = end;
	event_of(items, start)->known = true;
	event_of(items, end)->partner = start;
	event_of(items, end)->known = true;
}

/* Pair the events of the last time, which are the last ones, ends first. */
static void
pair_instant(struct phase_items *items)
{
	uint64_t first = items->number + items->count - items->instant;
	bool fifo = items->cursor->list.fifo;
	uint32_t ends = 0, i;
	struct pairer_instant how;
	int64_t time_ns;

	if (items->instant == 0)
		return;
	time_ns = event_of(items, first)->entry.id.time_ns;
	while (ends < items->instant &&
	       event_of(items, first + ends)->entry.is_end)
		ends++;
	how = pairer_instant(items->pairer.count, items->instant - ends, ends);
	for (i = 0; i < how.waiting; i++)
		join(
		    items, pairer_waiting(&items->pairer, i).number, first + i);
	for (i = 0; i < how.own; i++)
		join(items, first + ends + i, first + how.waiting + i);
	for (i = how.waiting + how.own; i < ends; i++)
		event_of(items, first + i)->known = true;
	if (!fifo) {
		/* Who waited and still does is alone, but the last start. */
		for (i = how.waiting; i < items->pairer.count; i++)
			event_of(
			    items, pairer_waiting(&items->pairer, i).number)
			    ->known = true;
		for (i = 0; i + 1 < how.left; i++)
			event_of(items, first + ends + how.own + i)->known =
			    true;
	}
	pairer_pass(
	    &items->pairer, &how, time_ns, first + ends + how.own, fifo);
	items->instant = 0;
}

/* Read one more event; at the end of the state nobody waits any more. */
static void
read_one(struct phase_items *items)
{
	const struct phase_entry *entry = part_cursor_entry(items->cursor);

	if (entry == NULL) {
		pair_instant(items);
		for (uint32_t i = 0; i < items->count; i++)
			items->at[items->first + i].known = true;
		items->ended = true;
		return;
	}
	if (items->instant > 0 &&
	    items->at[items->first + items->count - 1].entry.id.time_ns !=
		entry->id.time_ns)
		pair_instant(items);
	add(items, entry);
	items->instant++;
}

/* The end at the front is given with its start: now, if that was before. */
static void
pass_end(struct phase_items *items)
{
	struct phase_items_event *end = &items->at[items->first];

	if (end->partner > items->number) {
		event_of(items, end->partner)->early =
		    memory_copy(end, sizeof(*end));
		end->body = NULL;
	}
	drop_first(items);
}

bool
phase_items_next(struct phase_items *items, const struct phase_entry **start,
    const struct phase_entry **end)
{
	if (items->given)
		drop_first(items);
	items->given = false;
	for (;;) {
		struct phase_items_event *event;
		bool comes;

		while (!items->ended &&
		       (items->count == 0 || !items->at[items->first].known))
			read_one(items);
		if (items->count == 0)
			return false;
		event = &items->at[items->first];
		comes = event->partner == NONE || !event->entry.is_end;
		*start = event->entry.is_end ? NULL : &event->entry;
		*end = event->entry.is_end ? &event->entry : NULL;
		if (!comes) {
			pass_end(items);
			continue;
		}
		if (event->early != NULL)
			*end = &event->early->entry;
		else if (event->partner != NONE)
			*end = &event_of(items, event->partner)->entry;
		items->given = true;
		return true;
	}
}
