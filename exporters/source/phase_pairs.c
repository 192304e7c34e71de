/*
 * phase_pairs - pair the events of phases that pass from node to node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/phase_pairs.h"

#include <stdlib.h>

#include "proto/base/memory.h"

struct phase_pairs_event {
	struct record record; /* its texts are in `texts` */
	struct source_correction clock;
	char *texts;
	uint32_t number, partner;
};

void
phase_pairs_reset(struct phase_pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->count; i++)
		free(pairs->at[i].texts);
	pairs->count = pairs->next = 0;
	pairs->bytes = 0;
	pairs->paired = false;
}

void
phase_pairs_clear(struct phase_pairs *pairs)
{
	phase_pairs_reset(pairs);
	free(pairs->at);
	buffer_clear(&pairs->attributes);
	*pairs = (struct phase_pairs){ .at = NULL };
}

/* ---- collecting ---- */

static size_t
bytes_of(const struct record *record)
{
	return (size_t)record->node.bytes + record->source.bytes +
	       record->name.bytes + record->key.bytes + record->run.bytes +
	       record->pairs.bytes;
}

bool
phase_pairs_fits(const struct phase_pairs *pairs, const struct record *record)
{
	const struct record *first;

	if (pairs->count == 0)
		return true;
	first = &pairs->at[0].record;
	return record->kind == RECORD_PHASE &&
	       pairs->count < PHASE_PAIRS_EVENTS_MAX &&
	       bytes_of(record) <= PHASE_PAIRS_BYTES_MAX - pairs->bytes &&
	       text_equal(record->run, first->run) &&
	       text_equal(record->name, first->name) &&
	       text_equal(record->source, first->source) &&
	       text_equal(record->key, first->key);
}

static struct text
keep(char **at, struct text text)
{
	char *to = *at;

	if (text.bytes > 0)
		memcpy(to, text.at, text.bytes);
	*at += text.bytes;
	return (struct text){ to, text.bytes };
}

void
phase_pairs_add(struct phase_pairs *pairs, const struct record *record,
    const struct source_correction *clock)
{
	struct phase_pairs_event *event;
	char *at = memory_alloc(bytes_of(record) + 1);

	MEMORY_GROW(pairs->at, pairs->room, pairs->count);
	event = &pairs->at[pairs->count];
	*event = (struct phase_pairs_event){ *record, *clock, at, pairs->count,
		PAIRING_ALONE };
	event->record.node = keep(&at, record->node);
	event->record.source = keep(&at, record->source);
	event->record.name = keep(&at, record->name);
	event->record.key = keep(&at, record->key);
	event->record.run = keep(&at, record->run);
	event->record.pairs = keep(&at, record->pairs);
	pairs->count++;
	pairs->bytes += bytes_of(record);
}

/* ---- pairing ---- */

static bool
is_end(const struct phase_pairs_event *event)
{
	return !event->record.has_time;
}

static int64_t
time_of(const struct phase_pairs_event *event)
{
	return is_end(event) ? event->record.end_ns : event->record.time_ns;
}

/* The events of one node keep the order of the aggregator. */
static int
by_time(const void *left, const void *right)
{
	const struct phase_pairs_event *a = left, *b = right;
	int64_t a_ns = time_of(a), b_ns = time_of(b);

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	if (is_end(a) != is_end(b))
		return is_end(a) ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

bool
phase_pairs_end(struct phase_pairs *pairs)
{
	struct pairing *pairing;

	if (pairs->count == 0)
		return false;
	qsort(pairs->at, pairs->count, sizeof(*pairs->at), by_time);
	pairing = memory_alloc(pairs->count * sizeof(*pairing));
	for (uint32_t i = 0; i < pairs->count; i++)
		pairing[i] =
		    (struct pairing){ .time_ns = time_of(&pairs->at[i]),
			    .is_end = is_end(&pairs->at[i]) };
	pairing_find(pairing, pairs->count,
	    (pairs->at[0].record.count & RECORD_PHASE_FIFO) != 0);
	for (uint32_t i = 0; i < pairs->count; i++)
		pairs->at[i].partner = pairing[i].partner;
	free(pairing);
	pairs->paired = true;
	return true;
}

/* ---- pairs ---- */

/* The attributes of the end, then those of the start that it does not have, as
 * the aggregator merges them. */
static void
merge(struct phase_pairs *pairs, struct record *record,
    const struct record *start, const struct record *end)
{
	struct text rest = start->pairs;
	struct record_attribute attribute;
	struct value value;
	const char *from = rest.at;

	pairs->attributes.bytes = 0;
	buffer_put_text(&pairs->attributes, end->pairs);
	record->attributes = end->attributes;
	while (record->attributes < RECORD_ATTRIBUTES_MAX &&
	       record_next_attribute(&rest, &attribute)) {
		if (!record_find_attribute(end, attribute.key, &value)) {
			buffer_put(
			    &pairs->attributes, from, (size_t)(rest.at - from));
			record->attributes++;
		}
		from = rest.at;
	}
	record->pairs = buffer_text(&pairs->attributes);
}

/* How the times of a pair were corrected: the offset is that of its start. */
static void
merge_clocks(struct source_correction *clock,
    const struct phase_pairs_event *start, const struct phase_pairs_event *end)
{
	const struct source_correction *of = &end->clock;

	clock->end_ns = of->corrected ? of->end_ns : end->record.end_ns;
	if (!clock->corrected) {
		clock->time_ns = start->record.time_ns;
		clock->offset_ns = clock->error_ns = 0;
	}
	if (of->corrected && of->error_ns > clock->error_ns)
		clock->error_ns = of->error_ns;
	clock->corrected = clock->corrected || of->corrected;
}

/* As the store makes it, but what passes from one node to another took the
 * difference of the shown times: the raw ones are of two clocks. */
static void
set_duration(struct record *record, const struct source_correction *clock,
    const struct record *end)
{
	bool own = clock->corrected && text_equal(record->node, end->node);

	record->count |= end->count & RECORD_PHASE_MEASURED;
	record->has_duration = true;
	record->duration_ns =
	    (end->count & RECORD_PHASE_MEASURED) != 0 ? end->duration_ns
	    : own ? pairing_duration(clock->time_ns, clock->end_ns)
		  : pairing_duration(record->time_ns, record->end_ns);
}

bool
phase_pairs_next(struct phase_pairs *pairs, struct record *record,
    struct source_correction *clock)
{
	while (pairs->paired && pairs->next < pairs->count) {
		const struct phase_pairs_event *event =
		    &pairs->at[pairs->next++];
		const struct phase_pairs_event *end;

		if (event->partner != PAIRING_ALONE && is_end(event))
			continue; /* came with its start */
		*record = event->record;
		*clock = event->clock;
		if (event->partner == PAIRING_ALONE)
			return true;
		end = &pairs->at[event->partner];
		record->end_ns = end->record.end_ns;
		record->has_end = true;
		merge(pairs, record, &event->record, &end->record);
		merge_clocks(clock, event, end);
		set_duration(record, clock, &end->record);
		return true;
	}
	if (pairs->paired)
		phase_pairs_reset(pairs);
	return false;
}
