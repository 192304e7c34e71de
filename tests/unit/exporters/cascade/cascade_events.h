/*
 * cascade_events - phases of a recorded pool without a store: reads rows of
 * the event table and gives each end the start right before it, slowly and
 * plainly, as an oracle for what the store gives.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_EXPORTERS_CASCADE_CASCADE_EVENTS_H
#define TESTS_UNIT_EXPORTERS_CASCADE_CASCADE_EVENTS_H

#include <math.h>
#include <stdlib.h>

#include "exporters/cascade/cascade.h"
#include "proto/base/number.h"
#include "proto/json/json_find.h"
#include "proto/os/clock.h"
#include "proto/record/kv.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

struct cascade_event {
	char *node, *name, *message;
	int64_t ns;
	size_t row;
};

struct cascade_events {
	struct cascade_event *at;
	size_t count;
};

static inline int
cascade_events_order(const void *a, const void *b)
{
	const struct cascade_event *p = a, *q = b;

	if (p->ns != q->ns)
		return p->ns < q->ns ? -1 : 1;
	return p->row < q->row ? -1 : 1;
}

static inline struct cascade_events
cascade_events_read(const char *path)
{
	struct cascade_events events = { .count = 0 };
	FILE *file = fopen(path, "r");
	char *line = NULL;
	ssize_t bytes;
	size_t room = 0;

	assert_non_null(file);
	while ((bytes = getline(&line, &room, file)) > 0) {
		struct text row =
		    json_find_root((struct text){ line, (uint32_t)bytes });
		char *time = json_find_string(json_find(row, "RowKey"));
		struct cascade_event *e;

		events.at =
		    realloc(events.at, (events.count + 1) * sizeof(*events.at));
		e = &events.at[events.count];
		e->node = json_find_string(json_find(row, "NodeId"));
		e->name = json_find_string(json_find(row, "Event"));
		e->message = json_find_string(json_find(row, "Message"));
		e->row = events.count++;
		assert_int_equal(
		    clock_parse_seconds(text_of(time), &e->ns, NULL), 0);
		free(time);
	}
	free(line);
	fclose(file);
	qsort(
	    events.at, events.count, sizeof(*events.at), cascade_events_order);
	return events;
}

static inline void
cascade_events_clear(struct cascade_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		free(events->at[i].node);
		free(events->at[i].name);
		free(events->at[i].message);
	}
	free(events->at);
}

static inline struct text
cascade_events_key(const struct cascade_event *e, bool keyed)
{
	struct kv_pair pair;

	if (keyed && e->message != NULL &&
	    kv_find(text_of(e->message), text_of("img"), &pair))
		return pair.value;
	return text_of("");
}

/* The first event of this node, key and one of these names, from index `i` on;
 * NULL when there is none. */
static inline const struct cascade_event *
cascade_events_find(const struct cascade_events *events, const char *node,
    const char *name, const char *other, struct text key, bool keyed, size_t i)
{
	for (; i < events->count; i++) {
		const struct cascade_event *e = &events->at[i];

		if (strcmp(e->node, node) == 0 &&
		    (strcmp(e->name, name) == 0 ||
			strcmp(e->name, other) == 0) &&
		    text_equal(cascade_events_key(e, keyed), key))
			return e;
	}
	return NULL;
}

static inline void
cascade_events_put(struct wire_writer *w, uint32_t *count,
    const struct cascade_event *e, const struct cascade_event *unless)
{
	struct text rest;
	struct kv_pair pair, other;

	if (e == NULL || e->message == NULL)
		return;
	rest = text_of(e->message);
	while (kv_next(&rest, &pair)) {
		if (pair.key.bytes == 0 ||
		    (unless != NULL && unless->message != NULL &&
			kv_find(text_of(unless->message), pair.key, &other)))
			continue;
		wire_put_text_attribute(w, pair.key, pair.value);
		(*count)++;
	}
}

/* What the end says, as a number of seconds, else the time between them. */
static inline void
cascade_events_time(struct record *record, const struct cascade_event *end)
{
	struct kv_pair pair;
	double seconds;

	record->has_duration = record->has_time && record->has_end;
	record->duration_ns = record->end_ns - record->time_ns;
	if (!record->has_duration || end->message == NULL ||
	    !kv_find(text_of(end->message), text_of("diff"), &pair) ||
	    number_parse_double(pair.value, &seconds, NULL) != 0 ||
	    !(seconds >= 0 && seconds < 9e9))
		return;
	record->duration_ns = llrint(seconds * 1e9);
	record->count = RECORD_PHASE_MEASURED;
}

static inline void
cascade_events_feed(struct cascade *cascade, int phase, const char *node,
    struct text key, const struct cascade_event *begin,
    const struct cascade_event *end)
{
	unsigned char buffer[4096];
	struct wire_writer w;
	struct record record = {
		.kind = RECORD_PHASE,
		.node = text_of(node),
		.source = text_of("cascade"),
		.name = text_of(cascade_names[phase].name),
		.key = key,
		.has_time = begin != NULL,
		.has_end = end != NULL,
		.time_ns = begin ? begin->ns : 0,
		.end_ns = end ? end->ns : 0,
	};

	wire_writer_init(&w, buffer, sizeof(buffer));
	cascade_events_time(&record, end);
	cascade_events_put(&w, &record.attributes, begin, end);
	cascade_events_put(&w, &record.attributes, end, NULL);
	record.pairs = (struct text){ (const char *)buffer, (uint32_t)w.bytes };
	cascade_add(cascade, &record);
}

/* Is this the first event of its node, name and key? */
static inline bool
cascade_events_is_first(const struct cascade_events *events,
    const struct cascade_event *e, bool keyed)
{
	return cascade_events_find(events, e->node, e->name, e->name,
		   cascade_events_key(e, keyed), keyed, 0) == e;
}

/* The pairs of one phase, node and key, in order. */
static inline void
cascade_events_pair(const struct cascade_events *events,
    struct cascade *cascade, int phase, const struct cascade_event *of)
{
	const struct cascade_names *n = &cascade_names[phase];
	bool keyed = phase >= CASCADE_ONCE;
	struct text key = cascade_events_key(of, keyed);

	const struct cascade_event *e, *next = NULL;

	for (size_t i = 0;; i = (size_t)(e - events->at) + 1) {
		e = cascade_events_find(
		    events, of->node, n->begin, n->end, key, keyed, i);
		if (e == NULL)
			break;
		next = cascade_events_find(events, of->node, n->begin, n->end,
		    key, keyed, (size_t)(e - events->at) + 1);
		if (strcmp(e->name, n->end) == 0) {
			cascade_events_feed(
			    cascade, phase, of->node, key, NULL, e);
			continue;
		}
		if (next == NULL || strcmp(next->name, n->end) != 0) {
			cascade_events_feed(
			    cascade, phase, of->node, key, e, NULL);
			continue;
		}
		cascade_events_feed(cascade, phase, of->node, key, e, next);
		e = next;
	}
}

/* Is this the event by which a phase of its node and key is known first? */
static inline bool
cascade_events_opens(const struct cascade_events *events, int phase,
    const struct cascade_event *e)
{
	const struct cascade_names *n = &cascade_names[phase];
	bool keyed = phase >= CASCADE_ONCE;
	bool starts = strcmp(e->name, n->begin) == 0;

	if ((!starts && strcmp(e->name, n->end) != 0) ||
	    !cascade_events_is_first(events, e, keyed))
		return false;
	return starts ||
	       cascade_events_find(events, e->node, n->begin, n->begin,
		   cascade_events_key(e, keyed), keyed, 0) == NULL;
}

/* All phases of all nodes, in the order of the reader: keys, and then nodes,
 * in the order of their first start or end. */
static inline void
cascade_events_to(const struct cascade_events *events, struct cascade *cascade)
{
	char *done = calloc(events->count + 1, 1);

	for (int phase = 0; phase < CASCADE_PHASES; phase++) {
		bool keyed = phase >= CASCADE_ONCE;

		for (size_t i = 0; i < events->count; i++)
			done[i] = !cascade_events_opens(
			    events, phase, &events->at[i]);
		for (size_t i = 0; i < events->count; i++) {
			struct text key =
			    cascade_events_key(&events->at[i], keyed);

			for (size_t j = i; j < events->count && !done[i]; j++) {
				const struct cascade_event *e = &events->at[j];

				if (j == i || done[j] ||
				    !text_equal(
					cascade_events_key(e, keyed), key))
					continue;
				cascade_events_pair(events, cascade, phase, e);
				done[j] = 1;
			}
			if (!done[i])
				cascade_events_pair(
				    events, cascade, phase, &events->at[i]);
		}
	}
	free(done);
}

#endif
