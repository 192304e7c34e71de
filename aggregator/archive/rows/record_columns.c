/*
 * record_columns - records of the store as rows of the archive's tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/record_columns.h"

#include <math.h>
#include <string.h>

#include "proto/msgpack/mp.h"

const enum record_kind archive_kinds[ARCHIVE_KINDS] = { RECORD_EVENT,
	RECORD_SAMPLE, RECORD_SPAN, RECORD_GAP, RECORD_REJECTED };

/* ---- attributes ---- */

/* Take the count from the front; false when it or an attribute is malformed. */
static bool
take_attributes(struct text *attributes)
{
	struct varint_reader u = varint_reader_of(*attributes);
	uint64_t count = varint_get_max(&u, RECORD_ATTRIBUTES_MAX);
	struct row_block_attribute attribute;
	struct text rest;

	if (u.bad)
		return false;
	*attributes = rest = varint_get_bytes(&u, varint_left(&u));
	while (count > 0 && row_block_next_attribute(&rest, &attribute))
		count--;
	return count == 0 && rest.bytes == 0;
}

static void
put_attributes(struct native_block *block, unsigned keys, struct text rest,
    struct lookup *names)
{
	unsigned types = keys + 1, values = keys + 2;
	struct row_block_attribute attribute;
	char letters[RECORD_ATTRIBUTES_MAX];
	uint32_t count = 0;
	struct value value;

	while (row_block_next_attribute(&rest, &attribute)) {
		char key[LOOKUP_KEY_BYTES], text[NUMBER_BYTES];
		struct text bytes = attribute.value;

		record_next_value(&bytes, &value);
		native_put_text(
		    block, keys, lookup_key(names, &attribute.key, key));
		native_put_text(block, values, value_text(text, &value));
		letters[count++] = value_text_letter(&value);
	}
	native_end_array(block, keys);
	native_put_text(block, types, (struct text){ letters, count });
	native_end_array(block, values);
}

/* ---- values of a sample ---- */

/* The length of a number or nil in MessagePack; 0: it is something else. */
static uint32_t
number_bytes(unsigned char tag)
{
	if (tag < MP_FIXMAP || tag >= MP_NEGATIVE)
		return 1;
	switch (tag) {
	case MP_NIL: return 1;
	case MP_UINT8:
	case MP_INT8: return 2;
	case MP_UINT16:
	case MP_INT16: return 3;
	case MP_UINT32:
	case MP_INT32:
	case MP_FLOAT32: return 5;
	case MP_UINT64:
	case MP_INT64:
	case MP_FLOAT64: return 9;
	default: return 0;
	}
}

static bool
check_values(const struct row_block_body *body)
{
	struct text rest = body->value_bytes;

	for (uint32_t i = 0; i < body->values; i++) {
		uint32_t bytes = rest.bytes == 0
				     ? 0
				     : number_bytes((unsigned char)rest.at[0]);

		if (bytes == 0 || bytes > rest.bytes)
			return false;
		rest.at += bytes;
		rest.bytes -= bytes;
	}
	return rest.bytes == 0;
}

char
archive_put_number(struct native_block *block, unsigned values, unsigned big,
    const struct value *value)
{
	char letter = value_text_letter(value);
	double v = NAN;

	if (letter == ARCHIVE_FLOAT)
		v = value->is.f;
	else if (letter == ARCHIVE_UINT)
		v = (double)value->is.u;
	else if (letter == ARCHIVE_INT)
		v = (double)value->is.i;
	if (letter == ARCHIVE_INT && !value_text_is_exact(value->is.i))
		letter = ARCHIVE_LONG;
	native_put_float(block, values, v);
	if (letter == ARCHIVE_LONG || letter == ARCHIVE_UINT)
		native_put_uint(block, big, value->is.u);
	return letter;
}

static void
put_sample(struct native_block *block, unsigned types, struct text rest)
{
	char letters[RECORD_VALUES_MAX];
	uint32_t count = 0;
	struct value value;

	while (record_next_value(&rest, &value))
		letters[count++] =
		    archive_put_number(block, types + 1, types + 2, &value);
	native_put_text(block, types, (struct text){ letters, count });
	native_end_array(block, types + 1);
	native_end_array(block, types + 2);
}

/* ---- records ---- */

void
archive_put_session(struct typed *row, struct lookup *names, uint32_t stream)
{
	struct session_id session;

	if (!lookup_session(names, stream, &session))
		memset(&session, 0, sizeof(session));
	typed_put_text(row, (struct text){ (const char *)session.bytes,
				sizeof(session.bytes) });
}

void
archive_put_sent(
    struct typed *row, const struct row_block_item *item, struct lookup *names)
{
	archive_put_session(row, names, item->stream);
	typed_put_uint(row, item->seq);
	typed_put_uint(row, item->index);
	typed_put_int(row, item->receive_ns);
}

bool
archive_put_attributes(
    struct typed *row, struct text attributes, struct lookup *names)
{
	if (!take_attributes(&attributes))
		return false;
	put_attributes(row->block, row->column, attributes, names);
	row->column += 3;
	return true;
}

static void
put_body(struct typed *row, enum record_kind kind,
    const struct row_block_body *body, struct lookup *names)
{
	switch (kind) {
	case RECORD_EVENT:
		typed_put_text(row, lookup_name(names, &body->source));
		typed_put_text(row, lookup_name(names, &body->name));
		typed_put_text(row, body->uuid);
		break;
	case RECORD_SAMPLE:
		put_sample(row->block, row->column, body->value_bytes);
		return;
	case RECORD_SPAN:
		typed_put_int(row, body->end_ns);
		typed_put_text(row, lookup_name(names, &body->name));
		typed_put_text(row, lookup_name(names, &body->key));
		break;
	case RECORD_GAP:
		typed_put_int(row, body->end_ns);
		typed_put_text(row, lookup_name(names, &body->source));
		typed_put_text(row, lookup_name(names, &body->name));
		typed_put_uint(row, body->count);
		return;
	default:
		typed_put_text(row, lookup_name(names, &body->name));
		typed_put_uint(row, body->count);
		typed_put_text(row, body->value_bytes);
		typed_put_text(row, body->hash);
		return;
	}
	put_attributes(row->block, row->column, body->attributes, names);
}

static bool
get_body(struct row_block_body *body, enum record_kind kind,
    const struct row_block_item *item)
{
	if (!row_block_get_body(item->body, kind, item->time_ns, body))
		return false;
	if (kind == RECORD_SAMPLE)
		return check_values(body);
	return (kind != RECORD_EVENT && kind != RECORD_SPAN) ||
	       take_attributes(&body->attributes);
}

/* What all records begin with. */
static struct typed
put_front(struct native_block *block, enum record_kind kind,
    const struct archive_row_id *id, const struct row_block_item *item,
    struct lookup *names)
{
	struct typed row = typed_begin(block, typed_of_kind(kind));

	typed_put_uint(&row, id->part);
	typed_put_int(&row, id->hour);
	typed_put_text(&row, lookup_number(names, id->node));
	if (kind == RECORD_SAMPLE || kind == RECORD_SPAN)
		typed_put_text(&row, lookup_number(names, id->track));
	typed_put_int(&row, item->time_ns);
	archive_put_sent(&row, item, names);
	typed_put_uint(&row, id->pos);
	return row;
}

bool
archive_put_record(struct native_block *block, enum record_kind kind,
    const struct archive_row_id *id, const struct row_block_item *item,
    struct lookup *names, uint64_t *hash)
{
	struct row_block_body body;
	struct typed row;

	if (typed_of_kind(kind) == NULL || !get_body(&body, kind, item))
		return false;
	row = put_front(block, kind, id, item, names);
	put_body(&row, kind, &body, names);
	*hash = row.hash;
	return true;
}
