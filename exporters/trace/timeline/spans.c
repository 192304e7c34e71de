/*
 * timeline - spans, one row for each track, and events, one row for each
 * source.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include "proto/os/clock.h"

enum {
	/* Spans of one track with the same begin, or cut to the same begin. */
	SPAN_BUFFER_BYTES = 4 << 20,
};
/* How long before its start a trace looks for spans that reach into it. */
#define REACH_NS (INT64_C(24) * 3600 * NS_PER_SECOND)

/* Draw the buffer when a span of another track or begin arrives. */
static bool
goes_with(const struct timeline *t, const struct interval_sort *interval_sort,
    const struct interval_sort_item *item)
{
	int64_t begin_ns = item->begin_ns;

	if (begin_ns < t->from_ns)
		begin_ns = t->from_ns; /* begin after cutting */
	return interval_sort->count == 0 ||
	       (interval_sort->last_row == item->row &&
		   interval_sort->last_begin_ns == begin_ns);
}

static void
take_span(struct timeline *t, struct interval_sort *interval_sort,
    const struct record *record)
{
	struct interval_sort_item item = { .begin_ns = record->time_ns,
		.end_ns = record->end_ns,
		.name = record->name,
		.category = record->key,
		.pairs = record->pairs };

	timeline_straighten(&item);
	if (!timeline_wants(t, record->node, item.begin_ns, item.end_ns))
		return;
	item.row =
	    tracks_find(&t->tracks, record->node, TRACKS_SPANS, record->source);
	if (item.row == UINT32_MAX) {
		t->rowless++;
		return;
	}
	if (!goes_with(t, interval_sort, &item))
		timeline_flush(t, interval_sort);
	timeline_collect(t, interval_sort, &item);
}

int
timeline_spans(struct timeline *t, struct err *err)
{
	int64_t from_ns = t->from_ns > TIME_MIN_NS + REACH_NS
			      ? t->from_ns - REACH_NS
			      : TIME_MIN_NS;
	struct record record;
	struct interval_sort interval_sort;
	int rc;

	if (timeline_select(t, RECORD_SPAN, from_ns, err) != 0)
		return -1;
	timeline_shows(t, "spans", t->spans);
	interval_sort_init(&interval_sort, SPAN_BUFFER_BYTES);
	while ((rc = source_next(t->source, &record, err)) > 0) {
		timeline_shows_step(t, t->progress.done + 1);
		take_span(t, &interval_sort, &record);
	}
	timeline_flush(t, &interval_sort);
	interval_sort_clear(&interval_sort);
	return rc;
}

/* ---- events ---- */

static void
take_event(struct timeline *t, const struct record *record)
{
	struct interval_sort_item item = { .begin_ns = record->time_ns,
		.name = record->name,
		.category = record->source,
		.pairs = record->pairs };

	if (!timeline_wants(t, record->node, item.begin_ns, item.begin_ns))
		return;
	item.row = tracks_find(
	    &t->tracks, record->node, TRACKS_EVENTS, record->source);
	if (item.row == UINT32_MAX)
		t->rowless++;
	else
		timeline_point(t, &item);
}

int
timeline_events(struct timeline *t, struct err *err)
{
	struct record record;
	int rc;

	if (timeline_select(t, RECORD_EVENT, t->from_ns, err) != 0)
		return -1;
	timeline_shows(t, "events", t->events);
	while ((rc = source_next(t->source, &record, err)) > 0) {
		timeline_shows_step(t, t->progress.done + 1);
		take_event(t, &record);
	}
	return rc;
}
