/*
 * wire_write - records, attributes and values as MessagePack.
 *
 * Every value is a head of at most MP_HEAD_BYTES_MAX bytes and a tail, which
 * is copied.  Records are sized first and then written directly: 14.5 ns for
 * an event of tests/bench/wire.c.  msgpack-c's packer, which appends piece by
 * piece through a callback, takes 25.  The writing functions are always
 * inlined; otherwise the position would be in memory and not in a register (18
 * ns).
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "proto/base/text.h"
#include "proto/msgpack/mp_put.h"
#include "proto/record/schema.h"
#include "proto/wire/wire.h"

void
wire_writer_init(struct wire_writer *w, void *buffer, size_t room)
{
	*w = (struct wire_writer){ .at = buffer, .room = room };
}

/* ---- pieces ---- */

SCHEMA_INLINE void
put_tail(unsigned char **p, struct text tail)
{
	*p = text_copy_short(*p, tail.at, tail.bytes);
}

SCHEMA_INLINE void
put_str(unsigned char **p, const struct text *text, struct text *tail)
{
	schema_copy(tail, text);
	mp_put_str(p, text->bytes);
}

SCHEMA_INLINE void
put_bin(unsigned char **p, const struct text *bytes, struct text *tail)
{
	schema_copy(tail, bytes);
	mp_put_bin(p, bytes->bytes);
}

/* Write the head of a field; `tail` is what must follow it. */
SCHEMA_INLINE void
put_head(unsigned char **p, const struct record *r, enum schema_field field,
    struct text *tail)
{
	switch (field) {
	case SCHEMA_MAYBE_TIME:
		if (!r->has_time) {
			mp_put_nil(p);
			break;
		}
		/* fall through */
	case SCHEMA_TIME: mp_put_int64(p, r->time_ns); break;
	case SCHEMA_MAYBE_END:
		if (!r->has_end) {
			mp_put_nil(p);
			break;
		}
		/* fall through */
	case SCHEMA_END: mp_put_int64(p, r->end_ns); break;
	case SCHEMA_DURATION:
		if (r->has_duration)
			mp_put_int64(p, r->duration_ns);
		else
			mp_put_nil(p);
		break;
	case SCHEMA_SOURCE: put_str(p, &r->source, tail); break;
	case SCHEMA_NAME: put_str(p, &r->name, tail); break;
	case SCHEMA_RUN: put_str(p, &r->run, tail); break;
	case SCHEMA_CATEGORY:
	case SCHEMA_KEY: put_str(p, &r->key, tail); break;
	case SCHEMA_UUID:
		if (r->key.bytes > 0)
			put_bin(p, &r->key, tail);
		else
			mp_put_nil(p);
		break;
	case SCHEMA_ATTRIBUTES:
		schema_copy(tail, &r->pairs);
		mp_put_map(p, r->attributes);
		break;
	case SCHEMA_NUMBERS:
		if (r->values == 0) {
			put_bin(p, &r->value_bytes, tail);
			break;
		}
		/* fall through */
	case SCHEMA_VALUES:
		schema_copy(tail, &r->value_bytes);
		mp_put_array(p, r->values);
		break;
	case SCHEMA_COUNT: mp_put_uint64(p, r->count); break;
	case SCHEMA_BYTES: put_bin(p, &r->value_bytes, tail); break;
	}
}

SCHEMA_INLINE void
put_value_head(unsigned char **p, const struct value *value, struct text *tail)
{
	switch (value->type) {
	case VALUE_NIL: mp_put_nil(p); break;
	case VALUE_BOOL: mp_put_bool(p, value->is.boolean); break;
	case VALUE_INT: mp_put_int64(p, value->is.i); break;
	case VALUE_UINT: mp_put_uint64(p, value->is.u); break;
	case VALUE_FLOAT: mp_put_double(p, value->is.f); break;
	case VALUE_TEXT:
		*tail = value->is.text;
		mp_put_str(p, value->is.text.bytes);
		break;
	}
}

SCHEMA_INLINE void
put_text(unsigned char **p, struct text text)
{
	mp_put_str(p, text.bytes);
	put_tail(p, text);
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

/* Is there room for `bytes` bytes of tails and `heads` heads of the greatest
 * size?  If not, the exact size must be computed; that happens only near the
 * end of a buffer. */
static inline bool
fits_easily(const struct wire_writer *w, uint64_t bytes, unsigned heads)
{
	return !w->full &&
	       bytes + heads * MP_HEAD_BYTES_MAX <= w->room - w->bytes;
}

static size_t
text_bytes(struct text text)
{
	unsigned char head[MP_HEAD_BYTES_MAX], *end = head;

	mp_put_str(&end, text.bytes);
	return (size_t)(end - head) + text.bytes;
}

static size_t
value_bytes(const struct value *value)
{
	unsigned char head[MP_HEAD_BYTES_MAX], *end = head;
	struct text tail = { 0 };

	put_value_head(&end, value, &tail);
	return (size_t)(end - head) + tail.bytes;
}

static size_t
record_bytes(const struct record *r)
{
	const struct schema *schema = schema_of(r);
	size_t bytes = 2;

	for (unsigned i = 0; i < schema->fields; i++) {
		unsigned char head[MP_HEAD_BYTES_MAX], *end = head;
		struct text tail = { 0 };

		put_head(&end, r, schema->field[i], &tail);
		bytes += (size_t)(end - head) + tail.bytes;
	}
	return bytes;
}

/* ---- records ---- */

SCHEMA_INLINE unsigned char *
put_fields(
    unsigned char *p, const struct record *r, const struct schema *schema)
{
	mp_put_array(&p, 1u + schema->fields);
	mp_put_uint64(&p, r->kind);
#pragma GCC unroll 9
	for (unsigned i = 0; i < schema->fields; i++) {
		struct text tail = { 0 };

		put_head(&p, r, schema->field[i], &tail);
		put_tail(&p, tail);
	}
	return p;
}

bool
wire_put_record(struct wire_writer *w, const struct record *r)
{
	unsigned char *p = w->at + w->bytes;
	uint64_t tails = (uint64_t)r->source.bytes + r->name.bytes +
			 r->key.bytes + r->pairs.bytes + r->run.bytes +
			 r->value_bytes.bytes;

	assert(r->kind > RECORD_CONTEXT && r->kind < RECORD_KINDS);
	if (!fits_easily(w, tails, 2 + SCHEMA_FIELDS_MAX) &&
	    !fits(w, record_bytes(r)))
		return false;
	if (r->kind == RECORD_EVENT) /* constant: unrolled */
		p = put_fields(p, r, &schemas[RECORD_EVENT]);
	else
		p = put_fields(p, r, schema_of(r));
	w->bytes = (size_t)(p - w->at);
	w->records++;
	return true;
}

/* Append bytes that were built elsewhere, completely or not at all. */
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

/* A name that is too long is refused like one that does not fit: no reader
 * would accept it. */
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
	unsigned char *p = context;

	if (is_too_long(w, node, NAME_BYTES_MAX))
		return false;
	mp_put_array(&p, 2);
	mp_put_uint64(&p, RECORD_CONTEXT);
	put_text(&p, node);
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
	unsigned char *p = context;
	const struct record_id *id = &record->id;

	if (is_too_long(w, record->node, NAME_BYTES_MAX))
		return false;
	mp_put_array(&p, entry > 0 ? 7 : 6);
	mp_put_uint64(&p, RECORD_CONTEXT);
	put_text(&p, record->node);
	mp_put_bin(&p, RECORD_ID_BYTES);
	mp_put_bin_body(&p, id->session.bytes, RECORD_ID_BYTES);
	mp_put_uint64(&p, id->seq);
	mp_put_uint64(&p, id->index);
	mp_put_int64(&p, record->receive_ns);
	if (entry > 0)
		mp_put_uint64(&p, entry);
	return append(w, context, p);
}

bool
wire_put_page_cursor(struct wire_writer *w, struct text cursor)
{
	unsigned char bin[MP_HEAD_BYTES_MAX + WIRE_CURSOR_BYTES_MAX];
	unsigned char *p = bin;

	if (is_too_long(w, cursor, WIRE_CURSOR_BYTES_MAX))
		return false;
	mp_put_bin(&p, cursor.bytes);
	put_tail(&p, cursor);
	return append(w, bin, p);
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
	put_text(&p, key);
	put_value_head(&p, value, &tail);
	put_tail(&p, tail);
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
	put_text(&p, key);
	put_text(&p, value);
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
	put_value_head(&p, value, &tail);
	put_tail(&p, tail);
	w->bytes = (size_t)(p - w->at);
	return true;
}
