/*
 * dump_rows - records as rows of an answer.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/dump/rows.h"

#include <stdlib.h>

#include "proto/os/clock.h"

struct row {
	struct text kind, partition, node, session;
	struct value seq, index, receive_ns, time_ns;
	struct text time;
	struct value end_ns;
	struct text end;
	struct value duration_ns;
	enum answer_flag measured;
	struct text source, name, key;
	struct value count;
	struct text attributes, values;
};

/* Numbers of nanoseconds are exact, and so greater than JSON's. */
static const struct answer_column columns[] = {
	{ "kind", "KIND", ANSWER_AT_TEXT(struct row, kind), NULL,
	    "event, sample, span, entity, gap, rejected, phase or run", 0,
	    NULL },
	{ "partition", NULL, ANSWER_AT_TEXT(struct row, partition), NULL,
	    "account and pool", 0, NULL },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), NULL,
	    "the node that recorded it", 0, NULL },
	{ "session", NULL, ANSWER_AT_TEXT(struct row, session), NULL,
	    "the session of the agent that sent it", 0, NULL },
	{ "seq", NULL, ANSWER_AT_VALUE(struct row, seq), NULL,
	    "the number of its batch in the session", 0, NULL },
	{ "index", NULL, ANSWER_AT_VALUE(struct row, index), NULL,
	    "its position in the batch", 0, NULL },
	{ "receive_ns", NULL, ANSWER_AT_VALUE(struct row, receive_ns), "ns",
	    "when the aggregator received it, since 1970", 0, NULL },
	{ "time_ns", NULL, ANSWER_AT_VALUE(struct row, time_ns), "ns",
	    "when it happened or began, since 1970", 0, NULL },
	{ "time", "TIME", ANSWER_AT_TEXT(struct row, time), NULL,
	    "the same as text, in the zone of --tz", 0, NULL },
	{ "end_ns", NULL, ANSWER_AT_VALUE(struct row, end_ns), "ns",
	    "when it ended, since 1970", 0, NULL },
	{ "end", "END", ANSWER_AT_TEXT(struct row, end), NULL,
	    "the same as text, in the zone of --tz", ANSWER_SPARE, NULL },
	{ "duration_ns", NULL, ANSWER_AT_VALUE(struct row, duration_ns), "ns",
	    "how long a phase took", 0, NULL },
	{ "measured", NULL, ANSWER_AT_FLAG(struct row, measured), NULL,
	    "whether the end event of a phase gave its duration", 0, NULL },
	{ "source", "SOURCE", ANSWER_AT_TEXT(struct row, source), NULL,
	    "the source of an event, the group of a sample, the model of a "
	    "phase or run",
	    0, NULL },
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name), NULL,
	    "the name of an event, span, phase or run", 0, NULL },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key), NULL,
	    "the key of an event, phase or run, the id of an entity",
	    ANSWER_SPARE, NULL },
	{ "count", NULL, ANSWER_AT_VALUE(struct row, count), NULL,
	    "how many records were lost", 0, NULL },
	{ "attributes", "ATTRIBUTES", ANSWER_AT_TEXT(struct row, attributes),
	    NULL, "attributes, or the events of a run, as JSON", ANSWER_SPARE,
	    NULL },
	{ "values", NULL, ANSWER_AT_TEXT(struct row, values), NULL,
	    "the values of a sample as JSON, the bytes of a rejected batch", 0,
	    NULL },
	ANSWER_FAMILY("clock*", ANSWER_VALUE, NULL,
	    "with --clock auto or corrected: the clock of the times, what was "
	    "added to them, and its uncertainty"),
	ANSWER_FAMILY("raw_*_ns", ANSWER_VALUE, "ns",
	    "with --clock auto or corrected: the times on the node's clock, if "
	    "they were corrected"),
	{ .key = NULL },
};

const struct answer_table dump_tables[] = { { "records", columns },
	{ NULL, NULL } };

enum { CLOCK_CELLS = 5, SESSION_BYTES = 33 };

void
dump_rows_add_clock(struct answer *answer)
{
	static const char *const keys[CLOCK_CELLS] = { "clock",
		"clock_offset_ns", "clock_error_ns", "raw_time_ns",
		"raw_end_ns" };

	for (int i = 0; i < CLOCK_CELLS; i++)
		answer_add_column(answer, text_of(keys[i]), NULL, ANSWER_VALUE,
		    i == 0 ? NULL : "ns");
}

static struct value
value_of(bool known, int64_t number)
{
	return known ? (struct value){ VALUE_INT, .is.i = number }
		     : (struct value){ .type = VALUE_NIL };
}

static struct value
count_of(bool known, uint64_t number)
{
	return known ? (struct value){ VALUE_UINT, .is.u = number }
		     : (struct value){ .type = VALUE_NIL };
}

static struct text
text_if(bool known, struct text text)
{
	return known && text.bytes > 0 ? text : (struct text){ NULL, 0 };
}

/* A number and a text. */
static void
set_time(struct value *to, struct text *as_text,
    char room[static CLOCK_TEXT_BYTES], bool known, int64_t ns)
{
	*to = value_of(known, ns);
	if (known)
		*as_text = text_of(clock_text(room, ns, RECORD_JSON_DECIMALS));
}

static struct text
key_of(const struct record *record, char hex[static SESSION_BYTES])
{
	struct session_id uuid;

	if (record->kind != RECORD_EVENT)
		return text_if(true, record->key);
	if (record->key.bytes != sizeof(uuid.bytes))
		return (struct text){ NULL, 0 };
	memcpy(uuid.bytes, record->key.at, sizeof(uuid.bytes));
	return text_of(session_text(hex, &uuid));
}

/* The two cells that are JSON. */
static void
set_json(struct row *row, struct json_memory *attributes,
    struct json_memory *values, const struct record *record)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];

	if (f->pairs != NULL || f->run) {
		json_memory_begin(attributes, JSON_LINE | JSON_STRICT);
		if (f->run) {
			json_begin_object(&attributes->to);
			record_json_run(&attributes->to, record);
			json_end_object(&attributes->to);
		} else {
			json_pairs(&attributes->to, record->pairs);
		}
		row->attributes = json_memory_end(attributes);
	}
	if (f->values || f->bytes) {
		json_memory_begin(values, JSON_LINE | JSON_STRICT);
		if (f->values)
			record_json_values(&values->to, record->value_bytes);
		else
			json_hex(&values->to, record->value_bytes);
		row->values = json_memory_end(values);
	}
}

static void
set_clock(struct answer_cell cells[static CLOCK_CELLS],
    const struct record *record, const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	bool known = f->time != NULL && clock->corrected;
	struct value values[CLOCK_CELLS] = { { .type = VALUE_NIL } };

	if (f->time != NULL)
		values[0] = (struct value){ VALUE_TEXT,
			.is.text =
			    text_of(clock->corrected ? "corrected" : "raw") };
	values[1] = value_of(known, clock->offset_ns);
	values[2] = value_of(known, clock->error_ns);
	values[3] = value_of(
	    known && record_json_has_time(record, false), clock->time_ns);
	values[4] = value_of(
	    known && f->end != NULL && record_json_has_time(record, true),
	    clock->end_ns);
	for (int i = 0; i < CLOCK_CELLS; i++)
		cells[i] =
		    (struct answer_cell){ ANSWER_VALUE, .is.value = values[i] };
}

void
dump_row(struct answer *answer, struct text partition,
    const struct record *record, const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	char session[SESSION_BYTES], key[SESSION_BYTES];
	char time[CLOCK_TEXT_BYTES], end[CLOCK_TEXT_BYTES];
	struct json_memory attributes = { .text = NULL };
	struct json_memory values = { .text = NULL };
	struct answer_cell clock_cells[CLOCK_CELLS];
	struct row row = {
		.kind = text_of(record_kind_name(record->kind)),
		.partition = partition,
		.node = text_if(true, record->node),
		.seq = count_of(true, record->id.seq),
		.index = count_of(true, record->id.index),
		.receive_ns = value_of(true, record->receive_ns),
		.duration_ns = value_of(
		    f->duration && record->has_duration, record->duration_ns),
		.measured = !f->duration ? ANSWER_NO_FLAG
			    : record->count & RECORD_PHASE_MEASURED ? ANSWER_YES
								    : ANSWER_NO,
		.source = text_if(f->source != NULL, record->source),
		.name = text_if(f->name != NULL, record->name),
		.key = key_of(record, key),
		.count = count_of(f->count, record->count),
	};

	if (session_is_known(&record->id.session))
		row.session =
		    text_of(session_text(session, &record->id.session));
	set_time(&row.time_ns, &row.time, time,
	    f->time != NULL && record_json_has_time(record, false),
	    record->time_ns);
	set_time(&row.end_ns, &row.end, end,
	    f->end != NULL && record_json_has_time(record, true),
	    record->end_ns);
	set_json(&row, &attributes, &values, record);
	if (clock != NULL)
		set_clock(clock_cells, record, clock);
	answer_row(answer, &row, clock_cells);
	free(attributes.text);
	free(values.text);
}
