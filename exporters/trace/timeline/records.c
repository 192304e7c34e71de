/*
 * timeline - write records to the trace.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <assert.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { NOTES_BYTES = 512 };

int
timeline_select(
    struct timeline *t, enum record_kind kind, int64_t from_ns, struct err *err)
{
	struct wire_query query = source_query(1u << kind);

	query.node = t->time_window.node;
	query.from_ns = from_ns;
	query.to_ns = t->time_window.to_ns;
	return source_select(
	    t->source, SOURCE_RECORDS, t->partition, &query, err);
}

bool
timeline_wants(const struct timeline *t, struct text node, int64_t begin_ns,
    int64_t end_ns)
{
	uint32_t number;

	if (end_ns < t->from_ns || begin_ns >= t->cut_ns)
		return false;
	if (t->chosen_only && !string_table_find(&t->chosen, node, &number))
		return false;
	/* An interval that ends exactly at the start of the trace is not in
	 * it. */
	if (end_ns == t->from_ns && begin_ns < end_ns)
		return false;
	return t->time_window.job == NULL ||
	       job_intervals_cover(&t->time_window.job_intervals, node,
		   begin_ns, end_ns > begin_ns ? end_ns : begin_ns + 1);
}

void
timeline_note(struct wire_writer *w, const char *what)
{
	struct value yes = { .type = VALUE_BOOL, .is.boolean = true };

	wire_put_attribute(w, text_of(what), &yes);
}

static void
put_time(struct wire_writer *w, const char *key, int64_t time_ns)
{
	char text[CLOCK_TEXT_BYTES];

	wire_put_text_attribute(
	    w, text_of(key), text_of(clock_text(text, time_ns, 9)));
}

void
timeline_straighten(struct interval_sort_item *item)
{
	if (item->end_ns >= item->begin_ns)
		return;
	item->end_ns = item->begin_ns;
	item->flags |= TIMELINE_BACKWARDS;
}

void
timeline_collect(const struct timeline *t, struct interval_sort *interval_sort,
    const struct interval_sort_item *item)
{
	unsigned char notes[NOTES_BYTES];
	struct interval_sort_item cut = *item;
	struct wire_writer w;

	if (item->begin_ns >= t->from_ns && item->end_ns <= t->cut_ns &&
	    !(item->flags & TIMELINE_BACKWARDS)) {
		interval_sort_add(interval_sort, item);
		return;
	}
	wire_writer_init(&w, notes, sizeof(notes));
	assert(item->notes.bytes < sizeof(notes) / 2);
	if (item->notes.bytes > 0)
		memcpy(notes, item->notes.at, item->notes.bytes);
	w.bytes = item->notes.bytes;
	if (item->flags & TIMELINE_BACKWARDS)
		timeline_note(&w, "poolscope.ends_before_it_starts");
	if (item->begin_ns < t->from_ns) {
		put_time(&w, "poolscope.begin", item->begin_ns);
		cut.begin_ns = t->from_ns;
	}
	if (item->end_ns > t->cut_ns) {
		put_time(&w, "poolscope.end", item->end_ns);
		cut.end_ns = t->cut_ns;
	}
	cut.notes = (struct text){ (const char *)notes, (uint32_t)w.bytes };
	interval_sort_add(interval_sort, &cut);
}

void
timeline_account(
    struct timeline *t, struct text node, int64_t time_ns, uint64_t before)
{
	t->written++;
	if (t->limit != NULL)
		size_limit_add(t->limit, time_ns, node,
		    trace_writer_bytes(&t->sink) - before);
}

void
timeline_point(struct timeline *t, const struct interval_sort_item *item)
{
	struct trace_slice slice = { .name = item->name,
		.category = item->category,
		.begin_ns = item->begin_ns - t->from_ns,
		.pairs = item->pairs };
	uint64_t before = trace_writer_bytes(&t->sink);

	tracks_point(&t->tracks, item->row, &slice.pid, &slice.tid);
	trace_writer_instant(&t->sink, &slice);
	timeline_account(
	    t, tracks_node(&t->tracks, item->row), item->begin_ns, before);
}

static void
write_interval(struct timeline *t, const struct interval_sort_item *item)
{
	struct trace_slice slice = { .name = item->name,
		.category = item->category,
		.begin_ns = item->begin_ns - t->from_ns,
		.duration_ns = item->end_ns - item->begin_ns,
		.pairs = item->pairs };
	uint64_t before = trace_writer_bytes(&t->sink);

	if (!tracks_place(&t->tracks, item->row, item->begin_ns, item->end_ns,
		&slice.pid, &slice.tid))
		return;
	trace_writer_complete(&t->sink, &slice);
	timeline_account(
	    t, tracks_node(&t->tracks, item->row), item->begin_ns, before);
}

void
timeline_flush(struct timeline *t, struct interval_sort *interval_sort)
{
	struct interval_sort_item item;

	interval_sort_sort(interval_sort);
	for (uint32_t i = 0; i < interval_sort->count; i++) {
		interval_sort_get(interval_sort, i, &item);
		if (item.flags & TIMELINE_POINT)
			timeline_point(t, &item);
		else
			write_interval(t, &item);
	}
	t->crowded += interval_sort->crowded;
	interval_sort->crowded = 0;
	interval_sort_empty(interval_sort);
}
