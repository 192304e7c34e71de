/*
 * column_records - rows of the archive's tables as records of the store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/column_records.h"

#include <math.h>

#include "proto/msgpack/mp_put.h"

/* Of a text, whatever it is: the store's limits are below. */
enum { TEXT_BYTES_MAX = RECORD_ENTITY_TEXT_BYTES_MAX };

/* ---- parts of a body ---- */

static void
put_name(struct buffer *body, const struct archive_numbers *numbers,
    struct text name)
{
	uint32_t number =
	    name.bytes == 0 ? 0 : numbers->number(numbers->context, name);

	varint_put(body, number);
	if (number == 0)
		varint_put_text(body, name);
}

static void
put_value(struct buffer *body, const struct value *value)
{
	unsigned char *at = buffer_need(body, MP_HEAD_BYTES_MAX);
	unsigned char *end = at;

	switch (value->type) {
	case VALUE_NIL: mp_put_nil(&end); break;
	case VALUE_BOOL: mp_put_bool(&end, value->is.boolean); break;
	case VALUE_INT: mp_put_int64(&end, value->is.i); break;
	case VALUE_UINT: mp_put_uint64(&end, value->is.u); break;
	case VALUE_FLOAT: mp_put_double(&end, value->is.f); break;
	case VALUE_TEXT: mp_put_str(&end, value->is.text.bytes); break;
	}
	body->bytes += (size_t)(end - at);
	if (value->type == VALUE_TEXT)
		buffer_put_text(body, value->is.text);
}

static bool
put_attributes(struct buffer *body, const struct archive_numbers *numbers,
    const struct archive_row *row)
{
	uint32_t count = row->types.bytes;
	struct value value;

	if (count > RECORD_ATTRIBUTES_MAX || row->key_count != count ||
	    row->text_count != count)
		return false;
	varint_put(body, count);
	for (uint32_t i = 0; i < count; i++) {
		if (row->keys[i].bytes > NAME_BYTES_MAX ||
		    row->texts[i].bytes > TEXT_BYTES_MAX ||
		    !value_text_parse(row->types.at[i], row->texts[i], &value))
			return false;
		put_name(body, numbers, row->keys[i]);
		put_value(body, &value);
	}
	return true;
}

/* ---- values of a sample ---- */

/* The integer that this double holds. */
static bool
get_exact(double v, struct value *value)
{
	double again;

	value->type = VALUE_INT;
	if (!(v >= -0x1p63 && v < 0x1p63))
		return false;
	value->is.i = (int64_t)v;
	again = (double)value->is.i;
	/* As bytes: an integer is not -0.0. */
	return memcmp(&again, &v, sizeof(v)) == 0;
}

/* The integer that no double holds, or that is above int64. */
static bool
get_big(char letter, double v, uint64_t big, struct value *value)
{
	value->is.u = big;
	if (letter == ARCHIVE_UINT) {
		value->type = VALUE_UINT;
		return big > INT64_MAX && (double)big == v;
	}
	value->type = VALUE_INT;
	return !value_text_is_exact(value->is.i) && (double)value->is.i == v;
}

bool
archive_get_number(char letter, double v, struct text *big, struct value *value)
{
	uint64_t bits;

	switch (letter) {
	case ARCHIVE_NIL: value->type = VALUE_NIL; return isnan(v);
	case ARCHIVE_INT: return get_exact(v, value);
	case ARCHIVE_FLOAT:
		value->type = VALUE_FLOAT;
		value->is.f = v;
		return true;
	case ARCHIVE_LONG:
	case ARCHIVE_UINT:
		if (big->bytes < sizeof(bits))
			return false;
		memcpy(&bits, big->at, sizeof(bits));
		big->at += sizeof(bits);
		big->bytes -= (uint32_t)sizeof(bits);
		return get_big(letter, v, bits, value);
	default: return false;
	}
}

static bool
put_sample(struct buffer *body, const struct archive_row *row)
{
	uint32_t count = row->types.bytes;
	struct text big = { (const char *)row->big,
		(uint32_t)(row->big_count * sizeof(*row->big)) };
	struct value value;

	if (count > RECORD_VALUES_MAX || row->number_count != count ||
	    row->big_count > count)
		return false;
	varint_put(body, count);
	for (uint32_t i = 0; i < count; i++) {
		if (!archive_get_number(
			row->types.at[i], row->numbers[i], &big, &value))
			return false;
		put_value(body, &value);
	}
	return big.bytes == 0;
}

/* ---- records ---- */

static bool
put_event(struct buffer *body, const struct archive_numbers *numbers,
    const struct archive_row *row)
{
	bool uuid = row->key.bytes > 0;

	if (uuid && row->key.bytes != RECORD_ID_BYTES)
		return false;
	put_name(body, numbers, row->source);
	put_name(body, numbers, row->name);
	varint_put(body, uuid);
	buffer_put_text(body, row->key);
	return put_attributes(body, numbers, row);
}

static bool
put_span(struct buffer *body, const struct archive_numbers *numbers,
    const struct archive_row *row)
{
	varint_put(body, varint_delta(row->time_ns, row->end_ns));
	put_name(body, numbers, row->name);
	put_name(body, numbers, row->key);
	return put_attributes(body, numbers, row);
}

static bool
put_gap(struct buffer *body, const struct archive_numbers *numbers,
    const struct archive_row *row)
{
	varint_put(body, varint_delta(row->time_ns, row->end_ns));
	put_name(body, numbers, row->source);
	put_name(body, numbers, row->name);
	varint_put(body, row->count);
	return true;
}

static bool
put_rejected(struct buffer *body, const struct archive_numbers *numbers,
    const struct archive_row *row)
{
	if (row->body.bytes > TEXT_BYTES_MAX)
		return false;
	put_name(body, numbers, row->name);
	varint_put(body, row->count);
	varint_put_text(body, row->body);
	varint_put_text(body, row->key);
	return true;
}

bool
archive_record(const struct archive_row *row, enum record_kind kind,
    const struct archive_numbers *numbers, struct row_block_item *item,
    struct buffer *body)
{
	bool good = false;

	body->bytes = 0;
	if (kind != RECORD_SAMPLE && (row->source.bytes > NAME_BYTES_MAX ||
					 row->name.bytes > NAME_BYTES_MAX ||
					 row->key.bytes > NAME_BYTES_MAX))
		return false;
	switch (kind) {
	case RECORD_EVENT: good = put_event(body, numbers, row); break;
	case RECORD_SAMPLE: good = put_sample(body, row); break;
	case RECORD_SPAN: good = put_span(body, numbers, row); break;
	case RECORD_GAP: good = put_gap(body, numbers, row); break;
	case RECORD_REJECTED: good = put_rejected(body, numbers, row); break;
	default: break;
	}
	*item = (struct row_block_item){
		.time_ns = row->time_ns,
		.receive_ns = row->receive_ns,
		.seq = row->seq,
		.stream = row->stream,
		.index = row->index,
		.body = buffer_text(body),
	};
	return good;
}

bool
archive_attributes(const struct archive_row *row,
    const struct archive_numbers *numbers, struct buffer *to)
{
	return put_attributes(to, numbers, row);
}
