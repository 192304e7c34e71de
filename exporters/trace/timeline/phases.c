/*
 * timeline - phases and jobs: one row for each phase and node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <stdio.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { PHASE_BUFFER_BYTES = 8 << 20, NOTE_BYTES = 64 };

/* ---- phases with unmatched starts or ends ---- */

int
timeline_read_ignored(struct timeline *t, struct string_table *ignored,
    uint64_t *count, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	struct value value;
	struct text text;
	int rc;

	if (source_select(t->source, SOURCE_STATS, t->partition, &query, err) !=
	    0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0) {
		if (record_find_text(&record, "unmatched", &text) &&
		    text_equal(text, text_of("ignore")))
			(void)string_table_add(ignored, record.name);
		if (record_find_attribute(&record, text_of("count"), &value) &&
		    value.type == VALUE_INT)
			*count += (uint64_t)value.is.i;
	}
	return rc;
}

bool
timeline_is_ignored(
    const struct string_table *ignored, const struct record *record)
{
	char id[2 * NAME_BYTES_MAX + 1];
	uint32_t number;

	return (!record->has_time || !record->has_end) &&
	       string_table_find(
		   ignored, record_whole_name(id, record), &number);
}

/* ---- one phase ---- */

struct phase {
	unsigned char notes[NOTE_BYTES];
	struct wire_writer w; /* in `notes` */
	char row[NAME_BYTES_MAX + 1];
	char title[2 * NAME_BYTES_MAX + 2];
};

/* The name of the row: "pull" of cascade, "run" of job. */
static struct text
row_name(struct phase *phase, const struct record *record)
{
	struct text name = record->name;
	int n = snprintf(phase->row, sizeof(phase->row), "%.*s %.*s",
	    (int)record->source.bytes, record->source.at, (int)name.bytes,
	    name.at);

	if (n >= (int)sizeof(phase->row))
		return name;
	return (struct text){ phase->row, (uint32_t)n };
}

/* The name of the slice: "pull redis:3".  A job is alone in its row. */
static struct text
title_of(struct phase *phase, const struct record *record, bool job)
{
	struct text name = record->name, key = record->key;
	int n;

	if (key.bytes == 0)
		return name;
	n = snprintf(phase->title, sizeof(phase->title), "%.*s %.*s",
	    (int)name.bytes, name.at, (int)key.bytes, key.at);
	if (job || n >= (int)sizeof(phase->title))
		return key;
	return (struct text){ phase->title, (uint32_t)n };
}

/* Mark what is missing or invalid; guess nothing. */
static void
set_times(struct timeline *t, struct phase *phase, const struct record *record,
    struct interval_sort_item *item)
{
	item->begin_ns = record->has_time ? record->time_ns : record->end_ns;
	item->end_ns = record->has_end ? record->end_ns : t->end_ns;
	if (!record->has_time) {
		timeline_note(&phase->w, "poolscope.no_start");
		item->flags = TIMELINE_POINT;
	} else if (!record->has_end) {
		timeline_note(&phase->w, "poolscope.no_end");
		if (timeline_is_job(record)) {
			int64_t end_ns = job_intervals_end(&t->jobs,
			    record->node, record->key, record->time_ns);

			if (end_ns < item->end_ns)
				item->end_ns = end_ns;
		}
		if (item->end_ns < item->begin_ns)
			item->end_ns = item->begin_ns;
	} else {
		timeline_straighten(item);
	}
}

bool
timeline_is_job(const struct record *phase)
{
	return text_equal(phase->source, text_of("job")) &&
	       text_equal(phase->name, text_of("run"));
}

static void
take(struct timeline *t, struct interval_sort *interval_sort,
    struct phase *phase, const struct record *record, int64_t after_ns)
{
	struct interval_sort_item item = { .category = record->source,
		.pairs = record->pairs };
	bool job = timeline_is_job(record);

	wire_writer_init(&phase->w, phase->notes, sizeof(phase->notes));
	set_times(t, phase, record, &item);
	if (!timeline_wants(t, record->node, item.begin_ns, item.end_ns) ||
	    item.begin_ns < after_ns)
		return;
	item.name = title_of(phase, record, job);
	item.notes = (struct text){ (const char *)phase->notes,
		(uint32_t)phase->w.bytes };
	item.row = tracks_find(&t->tracks, record->node,
	    job ? TRACKS_JOBS : TRACKS_PHASES,
	    job ? text_of("jobs") : row_name(phase, record));
	if (item.row == UINT32_MAX) {
		t->rowless++;
		return;
	}
	tracks_begin(&t->tracks, item.row, item.begin_ns);
	timeline_collect(t, interval_sort, &item);
}

/* ---- all phases ---- */

/* Read the phases that begin at `after_ns` or later, as many as the buffer
 * holds. */
static int
collect(struct timeline *t, struct interval_sort *interval_sort,
    const struct string_table *ignored, int64_t after_ns, struct err *err)
{
	struct phase phase;
	struct record record;
	int rc;

	if (timeline_select(t, RECORD_PHASE, TIME_MIN_NS, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0) {
		timeline_shows_step(t, t->progress.done + 1);
		if (timeline_is_ignored(ignored, &record))
			continue;
		take(t, interval_sort, &phase, &record, after_ns);
	}
	return rc;
}

int
timeline_phases(struct timeline *t, struct err *err)
{
	int64_t after_ns = TIME_MIN_NS;
	struct string_table ignored;
	uint64_t count = 0;
	struct interval_sort interval_sort;
	bool more = true;
	int rc;

	string_table_init(&ignored);
	interval_sort_init(&interval_sort, PHASE_BUFFER_BYTES);
	rc = timeline_read_ignored(t, &ignored, &count, err);
	while (rc == 0 && more) {
		timeline_shows(t, "phases", count);
		rc = collect(t, &interval_sort, &ignored, after_ns, err);
		more = interval_sort_was_full(&interval_sort);
		after_ns = interval_sort.limit_ns;
		if (rc == 0)
			timeline_flush(t, &interval_sort);
	}
	interval_sort_clear(&interval_sort);
	string_table_clear(&ignored);
	return rc;
}
