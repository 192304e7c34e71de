/*
 * row_block - encoding and decoding of row blocks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/row_block.h"

#include <assert.h>

enum {
	HEADER_ROOM = 2 * VARINT_BYTES, /* row count, last time - first time */
	NAME_ROOM = 1 + 2 + NAME_BYTES_MAX,
	ITEM_ROOM = 6 * VARINT_BYTES,
	EVENT_UUID = 1,
	UUID_BYTES = 16,
};

int
row_block_compare(
    const struct row_block_item *a, const struct row_block_item *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return 0;
}

/* ---- writing bodies: the caller has made room ---- */

size_t
row_block_body_bound(const struct record *record)
{
	/* The number or text of a key takes at most 3 bytes more than its text
	 * in MessagePack. */
	return (size_t)record->pairs.bytes + 3 * (size_t)record->attributes +
	       record->value_bytes.bytes + record->key.bytes + 3 * NAME_ROOM +
	       64;
}

static unsigned char *
copy(unsigned char *to, struct text t)
{
	if (t.bytes > 0)
		memcpy(to, t.at, t.bytes);
	return to + t.bytes;
}

static unsigned char *
put_name(unsigned char *to, const struct row_block_writer *writer,
    struct text t, uint32_t *number)
{
	*number = t.bytes == 0 ? 0
			       : dictionary_number(writer->dictionary,
				     writer->txn, writer->partition, t);
	to = varint_encode(to, *number);
	if (*number == 0)
		to = copy(varint_encode(to, t.bytes), t);
	return to;
}

static unsigned char *
put_attributes(unsigned char *to, const struct row_block_writer *writer,
    const struct record *record)
{
	struct text rest = record->pairs;
	struct record_attribute attribute;
	uint32_t number;

	to = varint_encode(to, record->attributes);
	while (record_next_attribute(&rest, &attribute)) {
		const char *value = attribute.key.at + attribute.key.bytes;

		to = put_name(to, writer, attribute.key, &number);
		to = copy(
		    to, (struct text){ value, (uint32_t)(rest.at - value) });
	}
	return to;
}

static unsigned char *
put_event(unsigned char *to, const struct record *record,
    const struct row_block_writer *writer, struct row_block_event *event)
{
	bool uuid = record->key.bytes == UUID_BYTES;

	to = put_name(to, writer, record->source, &event->source);
	to = put_name(to, writer, record->name, &event->name);
	*to++ = uuid ? EVENT_UUID : 0;
	if (uuid)
		to = copy(to, record->key);
	event->attributes = to;
	return put_attributes(to, writer, record);
}

unsigned char *
row_block_put_body(unsigned char *to, const struct record *record,
    const struct row_block_writer *writer, struct row_block_event *event)
{
	uint32_t number;

	switch (record->kind) {
	case RECORD_EVENT: return put_event(to, record, writer, event);
	case RECORD_SAMPLE:
		to = varint_encode(to, record->values);
		return copy(to, record->value_bytes);
	case RECORD_SPAN:
		to = varint_encode(
		    to, varint_delta(record->time_ns, record->end_ns));
		to = put_name(to, writer, record->name, &number);
		to = put_name(to, writer, record->key, &number);
		return put_attributes(to, writer, record);
	case RECORD_GAP:
		to = varint_encode(
		    to, varint_delta(record->time_ns, record->end_ns));
		to = put_name(to, writer, record->source, &number);
		to = put_name(to, writer, record->name, &number);
		return varint_encode(to, record->count);
	case RECORD_REJECTED:
		to = put_name(to, writer, record->name, &number);
		to = varint_encode(to, record->count);
		to = varint_encode(to, record->value_bytes.bytes);
		to = copy(to, record->value_bytes);
		to = varint_encode(to, record->key.bytes);
		return copy(to, record->key);
	case RECORD_ENTITY: return put_attributes(to, writer, record);
	default: return to;
	}
}

/* ---- reading bodies ---- */

static struct row_block_name
get_name(struct varint_reader *u)
{
	struct row_block_name name = { varint_get_u32(u), { NULL, 0 } };

	if (name.number == 0)
		name.text = varint_get_text(u);
	return name;
}

static struct text
get_rest(struct varint_reader *u)
{
	return varint_get_bytes(u, varint_left(u));
}

bool
row_block_get_body(struct text body, enum record_kind kind, int64_t time_ns,
    struct row_block_body *out)
{
	struct varint_reader u = varint_reader_of(body);
	uint64_t flags;

	*out = (struct row_block_body){ .end_ns = time_ns };
	switch (kind) {
	case RECORD_EVENT:
		out->source = get_name(&u);
		out->name = get_name(&u);
		flags = varint_get_max(&u, EVENT_UUID);
		if (flags & EVENT_UUID)
			out->uuid = varint_get_bytes(&u, UUID_BYTES);
		out->attributes = get_rest(&u);
		break;
	case RECORD_SAMPLE:
		out->values = (uint32_t)varint_get_max(&u, RECORD_VALUES_MAX);
		out->value_bytes = get_rest(&u);
		break;
	case RECORD_SPAN:
		out->end_ns = varint_undelta(time_ns, varint_get(&u));
		out->name = get_name(&u);
		out->key = get_name(&u);
		out->attributes = get_rest(&u);
		break;
	case RECORD_GAP:
		out->end_ns = varint_undelta(time_ns, varint_get(&u));
		out->source = get_name(&u);
		out->name = get_name(&u);
		out->count = varint_get(&u);
		break;
	case RECORD_REJECTED:
		out->name = get_name(&u);
		out->count = varint_get(&u);
		out->value_bytes = varint_get_text(&u);
		if (varint_left(&u) > 0) /* else written by an older version */
			out->hash = varint_get_text(&u);
		break;
	case RECORD_ENTITY: out->attributes = get_rest(&u); break;
	default: return false;
	}
	return !u.bad && u.at == u.end;
}

/* ---- attributes ---- */

uint32_t
row_block_attribute_count(struct text *attributes)
{
	struct varint_reader u = varint_reader_of(*attributes);
	uint32_t count = varint_get_u32(&u);

	*attributes = get_rest(&u);
	return u.bad ? 0 : count;
}

/* The length of the scalar at the front; 0 when it is no scalar or
 * truncated. */
static size_t
scalar_bytes(const struct varint_reader *u)
{
	static const unsigned char fixed[32] = { [0x00] = 1,
		[0x02] = 1,
		[0x03] = 1,
		[0x0a] = 5,
		[0x0b] = 9,
		[0x0c] = 2,
		[0x0d] = 3,
		[0x0e] = 5,
		[0x0f] = 9,
		[0x10] = 2,
		[0x11] = 3,
		[0x12] = 5,
		[0x13] = 9 };
	size_t left = varint_left(u), bytes;
	unsigned char tag;

	if (left == 0)
		return 0;
	tag = u->at[0];
	if (tag < 0x80 || tag >= 0xe0)
		return 1;
	if (tag < 0xa0)
		return 0;
	if (tag < 0xc0)
		bytes = 1 + (size_t)(tag & 0x1f);
	else if (tag == 0xd9 && left >= 2)
		bytes = 2 + (size_t)u->at[1];
	else if (tag == 0xda && left >= 3)
		bytes = 3 + ((size_t)u->at[1] << 8 | u->at[2]);
	else if (tag == 0xdb && left >= 5)
		bytes = 5 + (size_t)varint_get_u32_be(u->at + 1);
	else
		bytes = fixed[tag & 0x1f];
	return bytes <= left ? bytes : 0;
}

bool
row_block_next_attribute(
    struct text *rest, struct row_block_attribute *attribute)
{
	struct varint_reader u = varint_reader_of(*rest);
	size_t bytes;

	if (rest->bytes == 0)
		return false;
	attribute->key = get_name(&u);
	bytes = scalar_bytes(&u);
	if (u.bad || bytes == 0)
		return false;
	attribute->value = varint_get_bytes(&u, bytes);
	*rest = get_rest(&u);
	return true;
}

void
row_block_put_attribute(
    struct buffer *to, const struct row_block_attribute *attribute)
{
	varint_put(to, attribute->key.number);
	if (attribute->key.number == 0)
		varint_put_text(to, attribute->key.text);
	buffer_put(to, attribute->value.at, attribute->value.bytes);
}

/* ---- rows ---- */

void
row_block_begin(struct row_block_builder *row)
{
	buffer_need(&row->bytes, HEADER_ROOM);
	row->bytes.bytes = HEADER_ROOM;
	row->records = 0;
}

bool
row_block_add(struct row_block_builder *row, const struct row_block_item *item)
{
	size_t room = ITEM_ROOM + (size_t)item->body.bytes;
	unsigned char *start, *to;

	if (row->records > 0 &&
	    row->bytes.bytes + room > ROW_BLOCK_BYTES + HEADER_ROOM)
		return false;
	if (row->records == 0)
		row->first_ns = row->last_ns = item->time_ns;
	assert(item->time_ns >= row->last_ns);
	start = to = buffer_need(&row->bytes, room);
	to =
	    varint_encode(to, (uint64_t)item->time_ns - (uint64_t)row->last_ns);
	to = varint_encode(to, item->stream);
	to = varint_encode(to, item->seq);
	to = varint_encode(to, item->index);
	to = varint_encode(to, varint_delta(item->time_ns, item->receive_ns));
	to = varint_encode(to, item->body.bytes);
	to = copy(to, item->body);
	row->bytes.bytes += (size_t)(to - start);
	row->last_ns = item->time_ns;
	row->records++;
	return true;
}

struct text
row_block_finish(struct row_block_builder *row)
{
	unsigned char header[HEADER_ROOM];
	unsigned char *to = varint_encode(header, row->records);
	size_t bytes;

	to =
	    varint_encode(to, (uint64_t)row->last_ns - (uint64_t)row->first_ns);
	bytes = (size_t)(to - header);
	memcpy(row->bytes.at + HEADER_ROOM - bytes, header, bytes);
	return (struct text){ (const char *)row->bytes.at + HEADER_ROOM - bytes,
		(uint32_t)(row->bytes.bytes - HEADER_ROOM + bytes) };
}

bool
row_block_open(
    struct row_block_reader *rows, struct text value, int64_t first_ns)
{
	rows->bytes = varint_reader_of(value);
	rows->left = varint_get(&rows->bytes);
	rows->time_ns = first_ns;
	rows->last_ns =
	    (int64_t)((uint64_t)first_ns + varint_get(&rows->bytes));
	return !rows->bytes.bad;
}

bool
row_block_next(struct row_block_reader *rows, struct row_block_item *item)
{
	struct varint_reader *u = &rows->bytes;

	if (rows->left == 0)
		return false;
	item->time_ns = (int64_t)((uint64_t)rows->time_ns + varint_get(u));
	item->stream = varint_get_u32(u);
	item->seq = varint_get(u);
	item->index = varint_get_u32(u);
	item->receive_ns = varint_undelta(item->time_ns, varint_get(u));
	item->body = varint_get_text(u);
	if (u->bad) {
		rows->left = 0;
		return false;
	}
	rows->left--;
	rows->time_ns = item->time_ns;
	return true;
}

uint64_t
row_block_count(struct text value)
{
	struct varint_reader u = varint_reader_of(value);

	return varint_get(&u);
}
