/*
 * timeline_records - the records of a timeline: phases with jobs, spans, events
 * and samples, each kind in one pass.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline_records.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "exporters/critical/shown.h"
#include "exporters/samples/unit.h"
#include "exporters/trace/interval_sort.h"
#include "exporters/trace/timeline.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"
#include "proto/wire/wire.h"

enum { TIMELINE_POINT = 1, TIMELINE_BACKWARDS = 2 }; /* flags of intervals */

/* Show progress on a terminal. */

enum { RECORDS_PER_UPDATE = 1024 };
#define SHOW_NS (NS_PER_SECOND / 10)

static void
timeline_shows(struct timeline *t, const char *what, uint64_t total)
{
	t->what = what;
	t->progress.total = total;
	t->progress.done = 0;
	t->progress.rows = 0;
	t->progress.began_ns = clock_monotonic_ns();
}

static void
timeline_shows_step(struct timeline *t, uint64_t done)
{
	struct progress *progress = &t->progress;
	int64_t now_ns;

	progress->done = done;
	if (!t->has_terminal || ++progress->rows % RECORDS_PER_UPDATE != 0)
		return;
	now_ns = clock_monotonic_ns();
	if (now_ns - progress->now_ns < SHOW_NS)
		return;
	progress->now_ns = now_ns;
	progress_show(t->what, progress);
	t->has_shown = true;
}

void
timeline_shows_nothing(struct timeline *t)
{
	if (t->has_shown)
		progress_clear();
	t->has_shown = false;
}

int
timeline_count(struct timeline *t, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	char id[NAME_BYTES_MAX + 16];
	struct record record;
	int rc;

	if (!t->has_terminal)
		return 0;
	snprintf(id, sizeof(id), "partition:%.*s", (int)t->partition.bytes,
	    t->partition.at);
	if (source_select(
		t->source, SOURCE_STATUS, t->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0)
		if (text_equal(record.name, text_of(id))) {
			t->spans =
			    (uint64_t)record_count(&record, "records_span");
			t->events =
			    (uint64_t)record_count(&record, "records_event");
		}
	return rc;
}

/* Write records to the trace. */

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
	return t->time_window.of_jobs == NULL ||
	       job_intervals_cover(t->time_window.of_jobs, node, begin_ns,
		   end_ns > begin_ns ? end_ns : begin_ns + 1);
}

static void
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

/* An interval that ends before it begins gets length 0 and a mark. */
static void
timeline_straighten(struct interval_sort_item *item)
{
	if (item->end_ns >= item->begin_ns)
		return;
	item->end_ns = item->begin_ns;
	item->flags |= TIMELINE_BACKWARDS;
}

/* Cut the interval to the time of the trace and add it to the buffer. */
static void
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

/* Count the bytes written since trace_writer_bytes was `before` for this node
 * and time.  What is of no node is no record, and belongs to every trace. */
static void
timeline_account(
    struct timeline *t, struct text node, int64_t time_ns, uint64_t before)
{
	if (node.bytes == 0)
		return;
	t->written++;
	if (t->limit != NULL)
		size_limit_add(t->limit, time_ns, node,
		    trace_writer_bytes(&t->sink) - before);
}

static void
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

/* Write the intervals of the buffer, and empty it. */
static void
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

/* Phases and jobs: one row for each phase and node. */

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

/* The critical path, in a process of no node: an interval for each piece, which
 * follow each other. */

enum { PIECE_BYTES = 5 * NAME_BYTES_MAX };

/* "wait pull redis:3 on cn7" */
static struct text
piece_name(char to[static PIECE_BYTES], const struct critical_shown *shown,
    const struct critical_piece *piece)
{
	struct text node, phase, key;
	const char *kind =
	    critical_shown_piece(shown, piece, &node, &phase, &key);
	int n;

	phase = text_after(phase, ':');
	n = snprintf(to, PIECE_BYTES, "%s%s%.*s%s%.*s on %.*s", kind,
	    phase.bytes > 0 ? " " : "", (int)phase.bytes, phase.at,
	    key.bytes > 0 ? " " : "", (int)key.bytes, key.at, (int)node.bytes,
	    node.at);
	return (struct text){ to, (uint32_t)n };
}

int
timeline_path(struct timeline *t, struct err *err)
{
	struct interval_sort_item item = { .category = text_of("path") };
	char name[PIECE_BYTES];
	struct interval_sort sort;
	struct critical_shown shown;
	int rc;

	if (t->without_path || t->time_window.of_jobs != NULL)
		return 0;
	rc = critical_shown_read(&shown, t->source, t->partition, text_of(""),
	    t->gap_ns, t->time_window.to_ns, err);
	interval_sort_init(&sort, PHASE_BUFFER_BYTES);
	for (uint32_t i = 0; i < shown.path.count; i++) {
		item.begin_ns = shown.path.at[i].from_ns;
		item.end_ns = shown.path.at[i].to_ns;
		if (item.end_ns <= t->from_ns || item.begin_ns >= t->cut_ns)
			continue;
		item.name = piece_name(name, &shown, &shown.path.at[i]);
		item.row = tracks_find(&t->tracks, text_of(""), TRACKS_PHASES,
		    text_of("critical path"));
		timeline_collect(t, &sort, &item);
		timeline_flush(t, &sort);
	}
	interval_sort_clear(&sort);
	critical_shown_clear(&shown);
	return rc;
}

/*
 * Spans, one row for each track, and events, one row for each
 * source.
 */

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

/* Write samples as counter tracks; counters as rates. */

enum {
	STEPS = 1000, /* maximum of a track, without --step */
	NAME_BYTES = 2 * NAME_BYTES_MAX + 4,
};

static void
put_point(struct timeline *t, const struct cpus *cpus,
    const struct series_point *point)
{
	char name[NAME_BYTES], shown[UNIT_SHOWN_BYTES];
	int64_t time_ns = point->begin_ns, pid;
	uint64_t before = trace_writer_bytes(&t->sink);
	double factor = unit_of_point(point, cpus, shown);
	int n;

	if (isnan(factor))
		return;
	pid = tracks_process(&t->tracks, point->node);
	if (pid < 0) {
		t->rowless++;
		return;
	}
	n = snprintf(name, sizeof(name), "%.*s %.*s", (int)point->group.bytes,
	    point->group.at, (int)point->metric.bytes, point->metric.at);
	trace_writer_counter(&t->sink, pid, (struct text){ name, (uint32_t)n },
	    text_of(shown), time_ns > t->from_ns ? time_ns - t->from_ns : 0,
	    point->mean * factor);
	timeline_account(t, point->node, time_ns, before);
}

static int
read_metric(struct timeline *t, struct series *series, struct cpus *cpus,
    const struct series_query *query, struct err *err)
{
	struct series_point point;
	int rc;

	if (unit_read_cpus(cpus, series, query, err) != 0 ||
	    series_select(series, query, err) != 0)
		return -1;
	timeline_shows(t, "samples",
	    (uint64_t)(t->time_window.to_ns - t->time_window.from_ns));
	while ((rc = series_next(series, &point, err)) > 0) {
		timeline_shows_step(
		    t, point.begin_ns > t->time_window.from_ns
			   ? (uint64_t)(point.begin_ns - t->time_window.from_ns)
			   : 0);
		if (isfinite(point.mean) &&
		    !text_equal(
			point.metric, text_of(COUNTER_RATE_BOOT_COLUMN)) &&
		    timeline_wants(t, point.node, point.begin_ns, point.end_ns))
			put_point(t, cpus, &point);
	}
	return rc;
}

int
timeline_samples(struct timeline *t, struct err *err)
{
	struct series_query query = time_window_query(&t->time_window,
	    t->time_window.step_ns > 0 ? series_fit_step(t->time_window.step_ns)
				       : series_step(t->time_window.from_ns,
					     t->time_window.to_ns, STEPS));
	struct series *series = NULL;
	struct cpus cpus;
	uint32_t i = 0;
	int rc = series_open(&series, t->source, t->partition, err);

	cpus_init(&cpus);
	do {
		if (i < t->metrics->count)
			query.metric = text_of(t->metrics->at[i]);
		if (rc == 0)
			rc = read_metric(t, series, &cpus, &query, err);
	} while (++i < t->metrics->count);
	cpus_clear(&cpus);
	series_close(&series);
	return rc;
}
