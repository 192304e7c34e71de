/*
 * import_records - the lines of `poolscope dump --format jsonl` as records.
 *
 * The members of each kind are those of proto/decode/record_json.h.  Times are
 * read from the members that end in _ns.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/records.h"

#include <stdio.h>
#include <string.h>

#include "agents/import/formats/format.h"
#include "agents/import/json_member.h"
#include "proto/decode/record_json.h"
#include "proto/metric/definition.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

/* ---- numbers ---- */

/* As json_fields_number, also for integers beyond int64 that fit uint64. */
static int
read_number(struct text number, struct value *value, struct err *err)
{
	uint64_t whole = 0;

	if (json_fields_number(number, value, err) == 0)
		return 0;
	if (!json_fields_is_number(number) || number.at[0] == '-' ||
	    !json_reader_is_whole(number))
		return -1;
	for (uint32_t i = 0; i < number.bytes; i++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(
			whole, (uint64_t)(number.at[i] - '0'), &whole))
			return -1;
	*value = (struct value){ .type = VALUE_UINT, .is.u = whole };
	return 0;
}

static int
get_count(struct import_row *row, const char *key, uint64_t least,
    uint64_t greatest, uint64_t *count, struct err *err)
{
	struct text number = json_fields_find(&row->object, key);
	struct value value;

	if (number.bytes == 0)
		return err_set(err, "\"%s\" is missing", key);
	if (read_number(number, &value, err) != 0)
		return err_prefix(err, "\"%s\"", key);
	*count = value.type == VALUE_UINT ? value.is.u : (uint64_t)value.is.i;
	if (value.type == VALUE_FLOAT ||
	    (value.type == VALUE_INT && value.is.i < 0) || *count < least ||
	    *count > greatest)
		return err_set(err,
		    "\"%s\" is not an integer from %llu to %llu", key,
		    (unsigned long long)least, (unsigned long long)greatest);
	return 0;
}

static int
get_ns(
    struct import_row *row, const char *key, int64_t *time_ns, struct err *err)
{
	struct value value;

	if (json_member_number(&row->object, key, &value, err) != 0)
		return -1;
	if (value.type != VALUE_INT || value.is.i < TIME_MIN_NS ||
	    value.is.i > TIME_MAX_NS)
		return err_set(err,
		    "\"%s\" is not an integer of nanoseconds between 1900 and "
		    "2200",
		    key);
	*time_ns = value.is.i;
	return 0;
}

/* "begin": begin_ns, or raw_begin_ns of a line whose times were corrected. */
static int
get_time(struct import_row *row, bool corrected, const char *name,
    int64_t *time_ns, struct err *err)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s_ns", corrected ? "raw_" : "", name);
	return get_ns(row, key, time_ns, err);
}

static int
get_times(
    struct import_row *row, const struct record_json_fields *f, struct err *err)
{
	struct record *record = &row->record;
	struct text clock;
	bool corrected;

	if (json_member_text_if_any(&row->object, "clock", &clock, err) != 0)
		return -1;
	corrected = text_equal(clock, text_of("corrected"));
	if (f->time != NULL &&
	    get_time(row, corrected, f->time, &record->time_ns, err) != 0)
		return -1;
	return f->end == NULL
		   ? 0
		   : get_time(row, corrected, f->end, &record->end_ns, err);
}

/* ---- identity ---- */

static int
get_hex(struct import_row *row, const char *key,
    unsigned char to[static RECORD_ID_BYTES], bool *found, struct err *err)
{
	struct text digits;

	if (json_member_text_if_any(&row->object, key, &digits, err) != 0)
		return -1;
	*found = digits.at != NULL;
	if (!*found || text_unhex(to, RECORD_ID_BYTES, digits))
		return 0;
	return err_set(err, "\"%s\" is not %d hexadecimal digits", key,
	    2 * RECORD_ID_BYTES);
}

static bool
has(struct import_row *row, const char *key)
{
	struct text value = json_fields_find(&row->object, key);

	return value.bytes > 0 && !json_fields_is_null(value);
}

/* Had the store that was dumped lost the name of the session? */
static bool
is_lost(struct import_row *row)
{
	struct text value = json_fields_find(&row->object, "session");

	return value.bytes > 0 && json_fields_is_null(value);
}

/* All of it, or nothing: then the record is known by its content. */
static int
get_identity(struct import_row *row, struct err *err)
{
	struct record_id *id = &row->record.id;
	uint64_t index = 0;
	bool found;

	if (get_hex(row, "session", id->session.bytes, &found, err) != 0)
		return -1;
	if (is_lost(row) || (!found && !has(row, "seq") && !has(row, "index") &&
				!has(row, "receive_ns")))
		return 0;
	if (!found)
		return err_set(err, "\"session\" is missing");
	if (get_count(row, "seq", 1, UINT64_MAX, &id->seq, err) != 0 ||
	    get_count(row, "index", 0, UINT32_MAX, &index, err) != 0 ||
	    get_ns(row, "receive_ns", &row->record.receive_ns, err) != 0)
		return -1;
	id->index = (uint32_t)index;
	return 0;
}

static int
get_uuid(struct import_row *row, struct err *err)
{
	bool found;

	if (get_hex(row, "uuid", row->uuid, &found, err) != 0)
		return -1;
	if (found)
		row->record.key =
		    (struct text){ (const char *)row->uuid, RECORD_ID_BYTES };
	return 0;
}

static int
get_names(
    struct import_row *row, const struct record_json_fields *f, struct err *err)
{
	struct record *record = &row->record;
	struct json_fields *object = &row->object;

	if (json_member_name(object, f->source, &record->source, err) != 0 ||
	    (f->name != NULL &&
		json_member_name(object, f->name, &record->name, err) != 0))
		return -1;
	if (f->key == NULL)
		return 0;
	return record->kind == RECORD_EVENT
		   ? get_uuid(row, err)
		   : json_member_text_if_any(object, f->key, &record->key, err);
}

/* ---- attributes and values ---- */

static int
get_attribute(struct import_row *row, struct text from, struct value *value,
    struct err *err)
{
	switch (from.at[0]) {
	case '"':
		value->type = VALUE_TEXT;
		json_fields_text(&row->object, from, &value->is.text);
		return 0;
	case 't':
	case 'f':
		value->type = VALUE_BOOL;
		value->is.boolean = from.at[0] == 't';
		return 0;
	case 'n': value->type = VALUE_NIL; return 0;
	case '[':
	case '{':
		return err_set(err,
		    "is a list or an object: only text, numbers, booleans and "
		    "null are supported");
	default: return read_number(from, value, err);
	}
}

static int
get_pairs(struct import_row *row, const char *key,
    struct import_records_room *room, struct err *err)
{
	struct text pairs = json_fields_find(&row->object, key), name;
	struct json_reader reader;
	struct wire_writer w;
	struct value value;
	char shown[64];

	if (pairs.bytes == 0 || pairs.at[0] != '{')
		return err_set(err, "\"%s\" is not an object", key);
	wire_writer_init(&w, room->bytes, sizeof(room->bytes));
	/* The check of the line included it. */
	json_reader_init(&reader, pairs);
	json_reader_enter(&reader, '{');
	while (json_reader_member(&reader, &name)) {
		name = json_keys_decode(&row->object.keys, name);
		if (get_attribute(
			row, json_reader_take(&reader), &value, err) != 0)
			return err_prefix(err, "\"%s\": '%s'", key,
			    text_quote(shown, sizeof(shown), name));
		if (!wire_put_attribute(&w, name, &value))
			return err_set(err, "\"%s\" are longer than %d bytes",
			    key, IMPORT_BODY_BYTES_MAX);
		row->record.attributes++;
	}
	row->record.pairs =
	    (struct text){ (const char *)room->bytes, (uint32_t)w.bytes };
	return 0;
}

static int
get_values(
    struct import_row *row, struct import_records_room *room, struct err *err)
{
	struct text values = json_fields_find(&row->object, "values"), from;
	struct json_reader reader;
	struct wire_writer w;
	struct value value;

	if (!json_fields_is_list(values))
		return err_set(err, "\"values\" is not a list");
	wire_writer_init(&w, room->bytes, sizeof(room->bytes));
	json_reader_init(&reader, values);
	json_reader_enter(&reader, '[');
	while (json_reader_item(&reader)) {
		from = json_reader_take(&reader);
		value.type = VALUE_NIL;
		if (!json_fields_is_null(from) &&
		    read_number(from, &value, err) != 0)
			return err_prefix(
			    err, "value %u", row->record.values + 1);
		if (row->record.values == RECORD_VALUES_MAX ||
		    !wire_put_value(&w, &value))
			return err_set(err,
			    "\"values\" has more than %d values",
			    RECORD_VALUES_MAX);
		row->record.values++;
	}
	row->record.value_bytes =
	    (struct text){ (const char *)room->bytes, (uint32_t)w.bytes };
	return 0;
}

/* ---- a line ---- */

static int
get_kind(struct import_row *row, struct err *err)
{
	enum record_kind *kind = &row->record.kind;
	struct text word;
	char shown[64];

	if (json_member_text(&row->object, "kind", &word, err) != 0)
		return -1;
	if (record_kind_parse(word, kind) != 0)
		return err_set(err, "\"kind\": '%s' is not a kind of records",
		    text_quote(shown, sizeof(shown), word));
	if (*kind == RECORD_PHASE || *kind == RECORD_RUN)
		return err_set(err,
		    "a %s cannot be imported: the store derives it from events",
		    record_kind_name(*kind));
	if (*kind == RECORD_REJECTED)
		return err_set(err,
		    "a rejected batch cannot be imported: its records could "
		    "not be read");
	return 0;
}

static int
parse(struct import_row *row, struct import_records_room *room, struct err *err)
{
	struct record *record = &row->record;
	const struct record_json_fields *f;

	if (get_kind(row, err) != 0)
		return -1;
	f = &record_json_fields[record->kind];
	if (json_member_name(&row->object, "partition", &row->partition, err) !=
		0 ||
	    json_member_name(&row->object, "node", &record->node, err) != 0 ||
	    get_identity(row, err) != 0 || get_times(row, f, err) != 0 ||
	    get_names(row, f, err) != 0)
		return -1;
	if (f->count &&
	    get_count(row, "count", 0, UINT64_MAX, &record->count, err) != 0)
		return -1;
	if (f->values)
		return get_values(row, room, err);
	return f->pairs == NULL ? 0 : get_pairs(row, f->pairs, room, err);
}

int
import_records_parse(struct import_row *row, struct import_records_room *room,
    struct text line, struct err *err)
{
	if (import_row_load(row, line, err) != 0 || parse(row, room, err) != 0)
		return -1;
	return record_check(&row->record, err);
}

/* ---- the format ---- */

struct records {
	struct import_files files; /* first: source.h */
	struct import_records_room room;
};

/* The store would refuse such a definition, or no answer would have the
 * samples: say so here. */
static int
check_definition(const struct record *record, struct err *err)
{
	static const char boot[] = "poolscope.boot";
	const struct definition none = { .names = { NULL, 0 } };
	struct definition fresh;
	struct text first;

	if (!definition_of(record, &fresh))
		return 0;
	if (definition_compare(record->name, &none, &fresh,
		definition_sender_of(record), err) == DEFINITION_REFUSED)
		return -1;
	first = fresh.names;
	if (first.bytes >= sizeof(boot) - 1)
		first.bytes = sizeof(boot) - 1;
	if (memmem(fresh.types.at, fresh.types.bytes, "counter", 7) != NULL &&
	    !text_equal(first, text_of(boot)))
		return err_set(err,
		    "defines counters without %s as the first column: no "
		    "answer would have them",
		    boot);
	return 0;
}

static int
parse_line(void *arg, struct import_row *row, struct text line, struct err *err)
{
	struct records *records = arg;

	if (import_records_parse(row, &records->room, line, err) != 0)
		return -1;
	return check_definition(&row->record, err);
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct records *records = arg;

	return import_files_next_row(
	    &records->files, parse_line, records, row, err);
}

static int
open_records(struct import_source *source, const char *path,
    const struct import_format_options *options, struct err *err)
{
	if (import_files_new(source, sizeof(struct records), IMPORT_RECORDS,
		path, options->name, err) != 0)
		return -1;
	source->next = next_row;
	return 0;
}

const struct import_format import_format_records = {
	.word = "records",
	.operands = " FILE...",
	.summary = "records as poolscope dump prints them",
	.options = "",
	.kind = IMPORT_RECORDS,
	.rows = "records",
	.bad_rows = "bad lines",
	.open = open_records,
};
