/*
 * record_json - a record as a line of JSON, and its parts for other formats.
 * SPDX-License-Identifier: MIT
 */
#include "proto/decode/record_json.h"

#include "proto/os/clock.h"
#include "proto/record/run.h"

const struct record_json_fields record_json_fields[RECORD_KINDS] = {
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
	    .pairs = "attributes",
	    .duration = true },
	[RECORD_REJECTED] = { .time = "received",
	    .name = "reason",
	    .key = "sha256",
	    .count = true,
	    .bytes = true },
	[RECORD_RUN] = { .time = "first",
	    .source = "model",
	    .name = "run",
	    .key = "group",
	    .run = true },
};

bool
record_json_has_time(const struct record *record, bool end)
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
		json_string(json, clock_text(text, ns, RECORD_JSON_DECIMALS));
	else
		json_null(json);
}

void
record_json_values(struct json *json, struct text values)
{
	struct value value;

	json_begin_array(json);
	while (record_next_value(&values, &value))
		json_value(json, &value);
	json_end_array(json);
}

/* For each event its role and the times when it was emitted and received. */
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

void
record_json_run(struct json *json, const struct record *record)
{
	static const char *const states[RUN_STATES] = { "queued", "ongoing",
		"finished" };
	uint64_t state = record->count >> RUN_STATE_SHIFT;
	struct run_events events;

	if (!run_events_get(record->value_bytes, record->time_ns, &events))
		events = (struct run_events){ .count = 0 };
	json_add_bool(json, "known", record->count & RUN_KNOWN);
	json_add_bool(json, "error", record->count & RUN_ERROR);
	json_name(json, "state");
	if (state < RUN_STATES)
		json_string(json, states[state]);
	else
		json_null(json);
	json_add_uint(json, "overflow", events.overflow);
	json_name(json, "events");
	put_run_events(json, &events);
	json_add_object(json, "others");
	for (uint32_t i = 0; i < events.others; i++) {
		json_key(json, events.other[i].event);
		json_uint(json, events.other[i].count);
	}
	json_end_object(json);
}

static void
put_duration(struct json *json, const struct record *record)
{
	json_name(json, "duration_ns");
	if (record->has_duration)
		json_int(json, record->duration_ns);
	else
		json_null(json);
	json_add_bool(
	    json, "measured", (record->count & RECORD_PHASE_MEASURED) != 0);
}

static void
put_identity(
    struct json *json, struct text partition, const struct record *record)
{
	char session[33];

	json_add_string(json, "kind", record_kind_name(record->kind));
	json_add_text(json, "partition", partition);
	json_add_text(json, "node", record->node);
	json_name(json, "session");
	if (session_is_known(&record->id.session))
		json_string(json, session_text(session, &record->id.session));
	else
		json_null(json);
	json_add_uint(json, "seq", record->id.seq);
	json_add_uint(json, "index", record->id.index);
	json_add_int(json, "receive_ns", record->receive_ns);
}

static void
put_names(struct json *json, const struct record_json_fields *f,
    const struct record *record)
{
	if (f->source != NULL) {
		json_add_text(json, f->source, record->source);
	}
	if (f->name != NULL) {
		json_add_text(json, f->name, record->name);
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
put_clock(struct json *json, const struct record *record,
    const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];

	json_add_string(json, "clock", clock->corrected ? "corrected" : "raw");
	if (!clock->corrected)
		return;
	json_add_int(json, "clock_offset_ns", clock->offset_ns);
	json_add_int(json, "clock_error_ns", clock->error_ns);
	put_raw_time(
	    json, f->time, record_json_has_time(record, false), clock->time_ns);
	if (f->end != NULL)
		put_raw_time(json, f->end, record_json_has_time(record, true),
		    clock->end_ns);
}

static void
put_object(struct json *json, struct text partition,
    const struct record *record, struct text labels,
    const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];

	json_begin_object(json);
	put_identity(json, partition, record);
	if (f->time != NULL)
		put_time(json, f->time, record_json_has_time(record, false),
		    record->time_ns);
	if (f->end != NULL)
		put_time(json, f->end, record_json_has_time(record, true),
		    record->end_ns);
	if (clock != NULL && f->time != NULL)
		put_clock(json, record, clock);
	if (f->duration)
		put_duration(json, record);
	put_names(json, f, record);
	if (labels.bytes > 0) {
		json_name(json, "labels");
		json_raw(json, labels);
	}
	if (f->count) {
		json_add_uint(
		    json, f->bytes ? "bytes" : "count", record->count);
	}
	if (f->run)
		record_json_run(json, record);
	if (f->pairs != NULL) {
		json_name(json, f->pairs);
		json_pairs(json, record->pairs);
	}
	if (f->values) {
		json_name(json, "values");
		record_json_values(json, record->value_bytes);
	}
	if (f->bytes) {
		json_name(json, "first_bytes");
		json_hex(json, record->value_bytes);
	}
	json_end_object(json);
}

void
record_json_object(struct json *json, struct text partition,
    const struct record *record, const struct record_json_clock *clock)
{
	put_object(json, partition, record, (struct text){ NULL, 0 }, clock);
}

void
record_json_line(FILE *file, struct text partition, const struct record *record,
    const struct record_json_clock *clock)
{
	record_json_sample_line(
	    file, partition, record, (struct text){ NULL, 0 }, clock);
}

void
record_json_sample_line(FILE *file, struct text partition,
    const struct record *record, struct text labels,
    const struct record_json_clock *clock)
{
	struct json json;

	json_init(&json, file, JSON_LINE | JSON_STRICT);
	put_object(&json, partition, record, labels, clock);
	putc_unlocked('\n', file);
}
