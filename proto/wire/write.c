/*
 * wire_write - records, attributes and values as MessagePack.
 *
 * Every value is a head of at most MP_HEAD_BYTES_MAX bytes and a tail, which
 * is copied.  Records are sized first and then written straight: 25 ns for an
 * event of tests/bench/wire.c.  msgpack-c's packer, which appends piece by
 * piece and each time asks whether it fits, took 62.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "proto/base/copy.h"
#include "proto/msgpack/mp.h"
#include "proto/record/schema.h"
#include "proto/wire/wire.h"

void
wire_writer_init(struct wire_writer *w, void *buffer, size_t room)
{
	*w = (struct wire_writer){ .at = buffer, .room = room };
}

/* ---- pieces ---- */

SCHEMA_INLINE unsigned char *
put_tail(unsigned char *p, struct text tail)
{
	return copy_short(p, tail.at, tail.bytes);
}

/* Write the head of a field; `tail` is what goes behind it. */
SCHEMA_INLINE unsigned char *
put_head(unsigned char *p, const struct record *r, enum schema_field field,
    struct text *tail)
{
	switch (field) {
	case SCHEMA_MAYBE_TIME:
		if (!r->has_time)
			return mp_put_nil(p);
		/* fall through */
	case SCHEMA_TIME: return mp_put_int(p, r->time_ns);
	case SCHEMA_MAYBE_END:
		if (!r->has_end)
			return mp_put_nil(p);
		/* fall through */
	case SCHEMA_END: return mp_put_int(p, r->end_ns);
	case SCHEMA_SOURCE:
		schema_copy(tail, &r->source);
		return mp_put_text_head(p, r->source.bytes);
	case SCHEMA_NAME:
		schema_copy(tail, &r->name);
		return mp_put_text_head(p, r->name.bytes);
	case SCHEMA_CATEGORY:
	case SCHEMA_KEY:
		schema_copy(tail, &r->key);
		return mp_put_text_head(p, r->key.bytes);
	case SCHEMA_UUID:
		schema_copy(tail, &r->key);
		return r->key.bytes > 0 ? mp_put_bin_head(p, r->key.bytes)
					: mp_put_nil(p);
	case SCHEMA_ATTRIBUTES:
		schema_copy(tail, &r->pairs);
		return mp_put_map_head(p, r->attributes);
	case SCHEMA_NUMBERS:
		if (r->values == 0) {
			schema_copy(tail, &r->value_bytes);
			return mp_put_bin_head(p, r->value_bytes.bytes);
		}
		/* fall through */
	case SCHEMA_VALUES:
		schema_copy(tail, &r->value_bytes);
		return mp_put_array_head(p, r->values);
	case SCHEMA_COUNT: return mp_put_uint(p, r->count);
	case SCHEMA_BYTES:
		schema_copy(tail, &r->value_bytes);
		return mp_put_bin_head(p, r->value_bytes.bytes);
	}
	return p;
}

static inline unsigned char *
put_value_head(unsigned char *p, const struct value *value, struct text *tail)
{
	switch (value->type) {
	case VALUE_NIL: return mp_put_nil(p);
	case VALUE_BOOL:
		*p = value->is.boolean ? MP_TRUE : MP_FALSE;
		return p + 1;
	case VALUE_INT: return mp_put_int(p, value->is.i);
	case VALUE_UINT: return mp_put_uint(p, value->is.u);
	case VALUE_FLOAT: return mp_put_float(p, value->is.f);
	case VALUE_TEXT:
		*tail = value->is.text;
		return mp_put_text_head(p, value->is.text.bytes);
	}
	return p;
}

static unsigned char *
put_text(unsigned char *p, struct text text)
{
	return put_tail(mp_put_text_head(p, text.bytes), text);
}

/* ---- does it fit? ---- */

static bool
fits(struct wire_writer *w, size_t bytes)
{
	if (!w->full && bytes <= w->room - w->bytes)
		return true;
	w->full = true;
	return false;
}

/* Are there `bytes` for tails and room for `heads` of any size?  Says no too
 * early only in a buffer's last bytes; then the exact size is asked for. */
static inline bool
fits_easily(const struct wire_writer *w, uint64_t bytes, unsigned heads)
{
	return !w->full &&
	       bytes + heads * MP_HEAD_BYTES_MAX <= w->room - w->bytes;
}

static size_t
text_bytes(struct text text)
{
	unsigned char head[MP_HEAD_BYTES_MAX];

	return (size_t)(mp_put_text_head(head, text.bytes) - head) + text.bytes;
}

static size_t
value_bytes(const struct value *value)
{
	unsigned char head[MP_HEAD_BYTES_MAX];
	struct text tail = { 0 };

	return (size_t)(put_value_head(head, value, &tail) - head) + tail.bytes;
}

static size_t
record_bytes(const struct record *r)
{
	const struct schema *schema = schema_of(r);
	size_t bytes = 2;

	for (unsigned i = 0; i < schema->fields; i++) {
		unsigned char head[MP_HEAD_BYTES_MAX];
		struct text tail = { 0 };

		bytes +=
		    (size_t)(put_head(head, r, schema->field[i], &tail) - head);
		bytes += tail.bytes;
	}
	return bytes;
}

/* ---- records ---- */

SCHEMA_INLINE unsigned char *
put_fields(
    unsigned char *p, const struct record *r, const struct schema *schema)
{
	p = mp_put_array_head(p, 1u + schema->fields);
	p = mp_put_uint(p, r->kind);
#pragma GCC unroll 8
	for (unsigned i = 0; i < schema->fields; i++) {
		struct text tail = { 0 };

		p = put_head(p, r, schema->field[i], &tail);
		p = put_tail(p, tail);
	}
	return p;
}

bool
wire_put_record(struct wire_writer *w, const struct record *r)
{
	unsigned char *p = w->at + w->bytes;
	uint64_t tails = (uint64_t)r->source.bytes + r->name.bytes +
			 r->key.bytes + r->pairs.bytes + r->value_bytes.bytes;

	assert(r->kind > RECORD_CONTEXT && r->kind < RECORD_KINDS);
	if (!fits_easily(w, tails, 2 + SCHEMA_FIELDS_MAX) &&
	    !fits(w, record_bytes(r)))
		return false;
	if (r->kind == RECORD_EVENT) /* straight through */
		p = put_fields(p, r, &schemas[RECORD_EVENT]);
	else
		p = put_fields(p, r, schema_of(r));
	w->bytes = (size_t)(p - w->at);
	w->records++;
	return true;
}

/* Append what was put together elsewhere, whole. */
static bool
append(
    struct wire_writer *w, const unsigned char *from, const unsigned char *end)
{
	size_t bytes = (size_t)(end - from);

	if (!fits(w, bytes))
		return false;
	memcpy(w->at + w->bytes, from, bytes);
	w->bytes += bytes;
	return true;
}

/* A name that is too long is refused like one that does not fit: nothing
 * would read it. */
static bool
is_too_long(struct wire_writer *w, struct text name, uint32_t bytes_max)
{
	if (name.bytes > bytes_max)
		w->full = true;
	return w->full;
}

bool
wire_put_context(struct wire_writer *w, struct text node)
{
	unsigned char context[3 * MP_HEAD_BYTES_MAX + NAME_BYTES_MAX];
	unsigned char *p = mp_put_array_head(context, 2);

	if (is_too_long(w, node, NAME_BYTES_MAX))
		return false;
	p = mp_put_uint(p, RECORD_CONTEXT);
	p = put_text(p, node);
	return append(w, context, p);
}

bool
wire_put_context_full(struct wire_writer *w, const struct record *record)
{
	return wire_put_context_entry(w, record, 0);
}

bool
wire_put_context_entry(
    struct wire_writer *w, const struct record *record, uint64_t entry)
{
	unsigned char
	    context[8 * MP_HEAD_BYTES_MAX + NAME_BYTES_MAX + RECORD_ID_BYTES];
	unsigned char *p = mp_put_array_head(context, entry > 0 ? 7 : 6);
	const struct record_id *id = &record->id;

	if (is_too_long(w, record->node, NAME_BYTES_MAX))
		return false;
	p = mp_put_uint(p, RECORD_CONTEXT);
	p = put_text(p, record->node);
	p = mp_put_bin_head(p, RECORD_ID_BYTES);
	memcpy(p, id->session.bytes, RECORD_ID_BYTES);
	p = mp_put_uint(p + RECORD_ID_BYTES, id->seq);
	p = mp_put_uint(p, id->index);
	p = mp_put_int(p, record->receive_ns);
	if (entry > 0)
		p = mp_put_uint(p, entry);
	return append(w, context, p);
}

bool
wire_put_page_cursor(struct wire_writer *w, struct text cursor)
{
	unsigned char bin[MP_HEAD_BYTES_MAX + WIRE_CURSOR_BYTES_MAX];

	if (is_too_long(w, cursor, WIRE_CURSOR_BYTES_MAX))
		return false;
	return append(
	    w, bin, put_tail(mp_put_bin_head(bin, cursor.bytes), cursor));
}

/* ---- attributes and values ---- */

bool
wire_put_attribute(
    struct wire_writer *w, struct text key, const struct value *value)
{
	unsigned char *p = w->at + w->bytes;
	struct text tail = { 0 };
	uint64_t tails = (uint64_t)key.bytes +
			 (value->type == VALUE_TEXT ? value->is.text.bytes : 0);

	if (!fits_easily(w, tails, 2) &&
	    !fits(w, text_bytes(key) + value_bytes(value)))
		return false;
	p = put_value_head(put_text(p, key), value, &tail);
	p = put_tail(p, tail);
	w->bytes = (size_t)(p - w->at);
	return true;
}

bool
wire_put_text_attribute(
    struct wire_writer *w, struct text key, struct text value)
{
	unsigned char *p = w->at + w->bytes;

	if (!fits_easily(w, (uint64_t)key.bytes + value.bytes, 2) &&
	    !fits(w, text_bytes(key) + text_bytes(value)))
		return false;
	p = put_text(put_text(p, key), value);
	w->bytes = (size_t)(p - w->at);
	return true;
}

bool
wire_put_value(struct wire_writer *w, const struct value *value)
{
	unsigned char *p = w->at + w->bytes;
	struct text tail = { 0 };

	if (!fits(w, value_bytes(value)))
		return false;
	p = put_tail(put_value_head(p, value, &tail), tail);
	w->bytes = (size_t)(p - w->at);
	return true;
}
