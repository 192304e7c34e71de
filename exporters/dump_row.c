/*
 * dump_row - one record as a line of JSON, or as a row of CSV.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/dump_row.h"

#include <stdlib.h>

#include "exporters/json.h"
#include "proto/clock.h"
#include "proto/run.h"

enum { DECIMALS = 9 };

/* What the fields of struct record are called in each kind; NULL: not there. */
static const struct fields {
	const char *time, *end;
	const char *source, *name, *key;
	const char *pairs;
	bool count, values, bytes, run;
} fields[RECORD_KINDS] = {
	[RECORD_EVENT] = { .time = "time",
	    .source = "source",
	    .name = "name",
	    .key = "uuid",
	    .pairs = "attributes" },
	[RECORD_SAMPLE] = { .time = "time", .source = "set", .values = true },
	[RECORD_SPAN] = { .time = "begin",
	    .end = "end",
	    .source = "track",
	    .name = "name",
	    .key = "category",
	    .pairs = "attributes" },
	[RECORD_ENTITY] = { .source = "entity",
	    .name = "id",
	    .pairs = "properties" },
	[RECORD_GAP] = { .time = "from",
	    .end = "to",
	    .source = "class",
	    .name = "reason",
	    .count = true },
	[RECORD_PHASE] = { .time = "begin",
	    .end = "end",
	    .source = "model",
	    .name = "phase",
	    .key = "key",
	    .pairs = "attributes" },
	[RECORD_DEAD] = { .time = "received",
	    .name = "reason",
	    .count = true,
	    .bytes = true },
	[RECORD_RUN] = { .time = "first",
	    .source = "model",
	    .name = "run",
	    .key = "group",
	    .run = true },
};

/* Only of a phase half may be missing, and a run may have no events. */
static bool
has_time(const struct record *record, bool end)
{
	if (record->kind != RECORD_PHASE && record->kind != RECORD_RUN)
		return true;
	return end ? record->has_end : record->has_time;
}

/* ---- JSON ---- */

static void
put_time(struct json *json, const char *name, bool known, int64_t ns)
{
	char key[32], text[CLOCK_TEXT_BYTES];

	snprintf(key, sizeof(key), "%s_ns", name);
	json_name(json, key);
	if (known)
		json_int(json, ns);
	else
		json_null(json);
	json_name(json, name);
	if (known)
		json_string(json, clock_text(text, ns, DECIMALS));
	else
		json_null(json);
}

static void
put_values(struct json *json, struct text values)
{
	struct value value;

	json_begin_array(json);
	while (record_next_value(&values, &value))
		json_value(json, &value);
	json_end_array(json);
}

/* Of each event its role, when it was emitted and when received. */
static void
put_run_events(struct json *json, const struct run_events *events)
{
	json_begin_array(json);
	for (uint32_t i = 0; i < events->count; i++) {
		const struct run_event *event = &events->at[i];

		json_begin_array(json);
		json_int(json, event->role);
		json_int(json, event->time_ns);
		json_int(json, event->receive_ns);
		json_end_array(json);
	}
	json_end_array(json);
}

static void
put_run(struct json *json, const struct record *record)
{
	static const char *const states[RUN_STATES] = { "queued", "ongoing",
		"finished" };
	uint64_t state = record->count >> RUN_STATE_SHIFT;
	struct run_events events;

	if (!run_get_events(record->value_bytes, record->time_ns, &events))
		events = (struct run_events){ .count = 0 };
	json_name(json, "known");
	json_bool(json, record->count & RUN_KNOWN);
	json_name(json, "error");
	json_bool(json, record->count & RUN_ERROR);
	json_name(json, "state");
	if (state < RUN_STATES)
		json_string(json, states[state]);
	else
		json_null(json);
	json_name(json, "unkept");
	json_uint(json, events.unkept);
	json_name(json, "events");
	put_run_events(json, &events);
}

static void
put_identity(
    struct json *json, struct text partition, const struct record *record)
{
	char session[33];

	json_name(json, "kind");
	json_string(json, record_kind_name(record->kind));
	json_name(json, "partition");
	json_text(json, partition);
	json_name(json, "node");
	json_text(json, record->node);
	json_name(json, "session");
	json_string(json, session_text(session, &record->id.session));
	json_name(json, "seq");
	json_uint(json, record->id.seq);
	json_name(json, "index");
	json_uint(json, record->id.index);
	json_name(json, "receive_ns");
	json_int(json, record->receive_ns);
}

static void
put_names(
    struct json *json, const struct fields *f, const struct record *record)
{
	if (f->source != NULL) {
		json_name(json, f->source);
		json_text(json, record->source);
	}
	if (f->name != NULL) {
		json_name(json, f->name);
		json_text(json, record->name);
	}
	if (f->key == NULL)
		return;
	json_name(json, f->key);
	if (record->kind != RECORD_EVENT)
		json_text(json, record->key);
	else if (record->key.bytes > 0)
		json_hex(json, record->key);
	else
		json_null(json);
}

static void
put_raw_time(struct json *json, const char *name, bool known, int64_t ns)
{
	char key[32];

	snprintf(key, sizeof(key), "raw_%s_ns", name);
	json_name(json, key);
	if (known)
		json_int(json, ns);
	else
		json_null(json);
}

static void
put_correction(struct json *json, const struct record *record,
    const struct source_correction *correction)
{
	const struct fields *f = &fields[record->kind];

	json_name(json, "clock");
	json_string(json, correction->corrected ? "corrected" : "raw");
	if (!correction->corrected)
		return;
	json_name(json, "clock_offset_ns");
	json_int(json, correction->offset.offset_ns);
	json_name(json, "clock_error_ns");
	json_int(json, correction->offset.error_ns);
	put_raw_time(
	    json, f->time, has_time(record, false), correction->time_ns);
	if (f->end != NULL)
		put_raw_time(
		    json, f->end, has_time(record, true), correction->end_ns);
}

void
dump_json(FILE *file, struct text partition, const struct record *record,
    const struct source_correction *correction)
{
	const struct fields *f = &fields[record->kind];
	struct json json;

	json_init(&json, file, JSON_LINE | JSON_STRICT);
	json_begin_object(&json);
	put_identity(&json, partition, record);
	if (f->time != NULL)
		put_time(
		    &json, f->time, has_time(record, false), record->time_ns);
	if (f->end != NULL)
		put_time(&json, f->end, has_time(record, true), record->end_ns);
	if (correction != NULL && f->time != NULL)
		put_correction(&json, record, correction);
	put_names(&json, f, record);
	if (f->count) {
		json_name(&json, f->bytes ? "bytes" : "count");
		json_uint(&json, record->count);
	}
	if (f->run)
		put_run(&json, record);
	if (f->pairs != NULL) {
		json_name(&json, f->pairs);
		json_pairs(&json, record->pairs);
	}
	if (f->values) {
		json_name(&json, "values");
		put_values(&json, record->value_bytes);
	}
	if (f->bytes) {
		json_name(&json, "first_bytes");
		json_hex(&json, record->value_bytes);
	}
	json_end_object(&json);
	putc_unlocked('\n', file);
}

/* ---- CSV: the same columns for every kind ---- */

void
dump_csv_titles(struct csv *csv, bool corrections)
{
	static const char *const titles[] = { "kind", "partition", "node",
		"session", "seq", "index", "receive_ns", "time_ns", "time",
		"end_ns", "end", "source", "name", "key", "count", "attributes",
		"values" };
	static const char *const clock_titles[] = { "clock", "clock_offset_ns",
		"clock_error_ns", "raw_time_ns", "raw_end_ns" };

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		csv_string(csv, titles[i]);
	for (size_t i = 0; corrections && i < 5; i++)
		csv_string(csv, clock_titles[i]);
	csv_end_row(csv);
}

static void
put_csv_time(struct csv *csv, bool known, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	if (known) {
		csv_int(csv, ns);
		csv_string(csv, clock_text(text, ns, DECIMALS));
	} else {
		csv_none(csv);
		csv_none(csv);
	}
}

static void
put_cell_of_pairs(struct json *json, const struct record *record)
{
	json_pairs(json, record->pairs);
}

static void
put_cell_of_run(struct json *json, const struct record *record)
{
	json_begin_object(json);
	put_run(json, record);
	json_end_object(json);
}

static void
put_cell_of_values(struct json *json, const struct record *record)
{
	put_values(json, record->value_bytes);
}

static void
put_cell_of_bytes(struct json *json, const struct record *record)
{
	json_hex(json, record->value_bytes);
}

/* A cell of JSON: what `put` writes. */
static void
put_csv_json(struct csv *csv,
    void (*put)(struct json *json, const struct record *record),
    const struct record *record)
{
	struct json json;
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);

	if (memory == NULL)
		abort(); /* out of memory */
	json_init(&json, memory, JSON_LINE | JSON_STRICT);
	put(&json, record);
	fclose(memory);
	csv_text(csv, (struct text){ text, (uint32_t)bytes });
	free(text);
}

static void
put_csv_key(struct csv *csv, const struct record *record)
{
	char hex[33];
	struct session_id uuid;

	if (record->kind != RECORD_EVENT) {
		csv_text(csv, record->key);
	} else if (record->key.bytes == sizeof(uuid.bytes)) {
		memcpy(uuid.bytes, record->key.at, sizeof(uuid.bytes));
		csv_string(csv, session_text(hex, &uuid));
	} else {
		csv_none(csv);
	}
}

static void
put_csv_int(struct csv *csv, bool known, int64_t value)
{
	if (known)
		csv_int(csv, value);
	else
		csv_none(csv);
}

static void
put_csv_correction(struct csv *csv, const struct record *record,
    const struct source_correction *correction)
{
	const struct fields *f = &fields[record->kind];
	bool known = f->time != NULL && correction->corrected;

	if (f->time != NULL)
		csv_string(csv, correction->corrected ? "corrected" : "raw");
	else
		csv_none(csv);
	put_csv_int(csv, known, correction->offset.offset_ns);
	put_csv_int(csv, known, correction->offset.error_ns);
	put_csv_int(csv, known && has_time(record, false), correction->time_ns);
	put_csv_int(csv, known && f->end != NULL && has_time(record, true),
	    correction->end_ns);
}

void
dump_csv(struct csv *csv, struct text partition, const struct record *record,
    const struct source_correction *correction)
{
	const struct fields *f = &fields[record->kind];
	char session[33];

	csv_string(csv, record_kind_name(record->kind));
	csv_text(csv, partition);
	csv_text(csv, record->node);
	csv_string(csv, session_text(session, &record->id.session));
	csv_uint(csv, record->id.seq);
	csv_uint(csv, record->id.index);
	csv_int(csv, record->receive_ns);
	put_csv_time(
	    csv, f->time != NULL && has_time(record, false), record->time_ns);
	put_csv_time(
	    csv, f->end != NULL && has_time(record, true), record->end_ns);
	csv_text(csv, f->source ? record->source : text_of(""));
	csv_text(csv, f->name ? record->name : text_of(""));
	put_csv_key(csv, record);
	if (f->count)
		csv_uint(csv, record->count);
	else
		csv_none(csv);
	if (f->pairs != NULL)
		put_csv_json(csv, put_cell_of_pairs, record);
	else if (f->run)
		put_csv_json(csv, put_cell_of_run, record);
	else
		csv_none(csv);
	if (f->values)
		put_csv_json(csv, put_cell_of_values, record);
	else if (f->bytes)
		put_csv_json(csv, put_cell_of_bytes, record);
	else
		csv_none(csv);
	if (correction != NULL)
		put_csv_correction(csv, record, correction);
	csv_end_row(csv);
}
