/*
 * dump_record_csv - one record as a CSV row, with the same columns for every
 * kind.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/dump/record_csv.h"

#include <stdlib.h>

#include "proto/decode/record_json.h"
#include "proto/os/clock.h"

void
dump_csv_titles(struct csv *csv, bool corrections)
{
	csv_titles(csv,
	    "kind partition node session seq index receive_ns time_ns "
	    "time end_ns end duration_ns measured source name key count "
	    "attributes values");
	if (corrections)
		csv_titles(csv, "clock clock_offset_ns clock_error_ns "
				"raw_time_ns raw_end_ns");
	csv_end_row(csv);
}

static void
put_csv_time(struct csv *csv, bool known, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	if (known) {
		csv_int(csv, ns);
		csv_string(csv, clock_text(text, ns, RECORD_JSON_DECIMALS));
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
	record_json_run(json, record);
	json_end_object(json);
}

static void
put_cell_of_values(struct json *json, const struct record *record)
{
	record_json_values(json, record->value_bytes);
}

static void
put_cell_of_bytes(struct json *json, const struct record *record)
{
	json_hex(json, record->value_bytes);
}

/* A cell of JSON, written by `put`. */
static void
put_csv_json(struct csv *csv,
    void (*put)(struct json *json, const struct record *record),
    const struct record *record)
{
	struct json_memory json;

	json_memory_begin(&json, JSON_LINE | JSON_STRICT);
	put(&json.to, record);
	csv_text(csv, json_memory_end(&json));
	free(json.text);
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
put_csv_duration(struct csv *csv, const struct record *record)
{
	bool phase = record_json_fields[record->kind].duration;

	put_csv_int(csv, phase && record->has_duration, record->duration_ns);
	if (phase)
		csv_string(csv,
		    record->count & RECORD_PHASE_MEASURED ? "true" : "false");
	else
		csv_none(csv);
}

static void
put_csv_clock(struct csv *csv, const struct record *record,
    const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	bool known = f->time != NULL && clock->corrected;

	if (f->time != NULL)
		csv_string(csv, clock->corrected ? "corrected" : "raw");
	else
		csv_none(csv);
	put_csv_int(csv, known, clock->offset_ns);
	put_csv_int(csv, known, clock->error_ns);
	put_csv_int(
	    csv, known && record_json_has_time(record, false), clock->time_ns);
	put_csv_int(csv,
	    known && f->end != NULL && record_json_has_time(record, true),
	    clock->end_ns);
}

void
dump_csv(struct csv *csv, struct text partition, const struct record *record,
    const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	char session[33];

	csv_string(csv, record_kind_name(record->kind));
	csv_text(csv, partition);
	csv_text(csv, record->node);
	if (session_is_known(&record->id.session))
		csv_string(csv, session_text(session, &record->id.session));
	else
		csv_none(csv);
	csv_uint(csv, record->id.seq);
	csv_uint(csv, record->id.index);
	csv_int(csv, record->receive_ns);
	put_csv_time(csv,
	    f->time != NULL && record_json_has_time(record, false),
	    record->time_ns);
	put_csv_time(csv, f->end != NULL && record_json_has_time(record, true),
	    record->end_ns);
	put_csv_duration(csv, record);
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
	if (clock != NULL)
		put_csv_clock(csv, record, clock);
	csv_end_row(csv);
}
