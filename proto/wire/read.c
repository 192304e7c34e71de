/*
 * wire_read - read the records of a checked body in place.
 *
 * All functions trust that wire_body or wire_page_body has accepted the bytes.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "proto/msgpack/mp.h"
#include "proto/record/schema.h"
#include "proto/wire/wire.h"

/* Batches and puts come from senders, whose contexts may name the node of the
 * records but not their session and number, except those of an import. */
static bool
has_full_contexts(const struct wire_header *header)
{
	if (header->type == WIRE_BATCH)
		return wire_is_once(header);
	return header->type != WIRE_PUT;
}

void
wire_cursor_init(struct wire_cursor *cursor, const struct wire_header *header,
    struct text plain)
{
	*cursor = (struct wire_cursor){
		.rest = plain,
		.node = header->node,
		.id = { .session = header->session, .seq = header->seq },
		.full_contexts = has_full_contexts(header),
		.buckets = header->type == WIRE_PAGE,
	};
	if (header->type == WIRE_PAGE) {
		cursor->node = (struct text){ 0 };
		cursor->id = (struct record_id){ 0 };
	}
}

static const unsigned char *
take_context(
    struct wire_cursor *cursor, const unsigned char *p, uint32_t elements)
{
	struct text session;

	cursor->node = mp_get_text(&p);
	if (!cursor->full_contexts || elements < 6)
		return mp_skip(p, elements - 2);
	session = mp_get_text(&p);
	cursor->id.session = (struct session_id){ 0 };
	if (session.bytes == sizeof(cursor->id.session.bytes))
		memcpy(cursor->id.session.bytes, session.at, session.bytes);
	cursor->id.seq = mp_get_int(&p);
	cursor->id.index = (uint32_t)mp_get_int(&p);
	cursor->receive_ns = (int64_t)mp_get_int(&p);
	cursor->entry = 0;
	if (elements < 7)
		return p;
	cursor->entry = mp_get_int(&p);
	return mp_skip(p, elements - 7);
}

static const unsigned char *
take_attributes(struct record *record, const unsigned char *p)
{
	const unsigned char *from;

	record->attributes = mp_get_count(&p);
	from = p;
	for (uint32_t i = 0; i < record->attributes; i++)
		p = mp_skip_scalar(mp_skip_scalar(p));
	record->pairs =
	    (struct text){ (const char *)from, (uint32_t)(p - from) };
	return p;
}

static const unsigned char *
take_values(struct record *record, const unsigned char *p)
{
	const unsigned char *from;

	record->values = mp_get_count(&p);
	from = p;
	for (uint32_t i = 0; i < record->values; i++)
		p = *p == MP_FLOAT64 ? p + 9 : mp_skip_scalar(p);
	record->value_bytes =
	    (struct text){ (const char *)from, (uint32_t)(p - from) };
	return p;
}

/* nil: return false and store 0. */
static bool
take_maybe(int64_t *ns, const unsigned char **p)
{
	if (**p == MP_NIL) {
		++*p;
		return false;
	}
	*ns = (int64_t)mp_get_int(p);
	return true;
}

SCHEMA_INLINE const unsigned char *
take_field(
    struct record *record, enum schema_field field, const unsigned char *p)
{
	switch (field) {
	case SCHEMA_TIME:
	case SCHEMA_MAYBE_TIME:
		record->has_time = take_maybe(&record->time_ns, &p);
		break;
	case SCHEMA_END:
	case SCHEMA_MAYBE_END:
		record->has_end = take_maybe(&record->end_ns, &p);
		break;
	case SCHEMA_DURATION:
		record->has_duration = take_maybe(&record->duration_ns, &p);
		break;
	case SCHEMA_SOURCE: record->source = mp_get_text(&p); break;
	case SCHEMA_NAME: record->name = mp_get_text(&p); break;
	case SCHEMA_UUID:
		if (*p == MP_NIL) {
			p++;
			break;
		}
		/* fall through */
	case SCHEMA_CATEGORY:
	case SCHEMA_KEY: record->key = mp_get_text(&p); break;
	case SCHEMA_RUN: record->run = mp_get_text(&p); break;
	case SCHEMA_ATTRIBUTES: p = take_attributes(record, p); break;
	case SCHEMA_NUMBERS:
		if (mp_is_bin(*p)) {
			record->value_bytes = mp_get_text(&p);
			break;
		}
		/* fall through */
	case SCHEMA_VALUES: p = take_values(record, p); break;
	case SCHEMA_COUNT: record->count = mp_get_int(&p); break;
	case SCHEMA_BYTES: record->value_bytes = mp_get_text(&p); break;
	}
	return p;
}

SCHEMA_INLINE const unsigned char *
take_fields(
    struct record *record, const struct schema *schema, const unsigned char *p)
{
#pragma GCC unroll 9
	for (unsigned i = 0; i < schema->fields; i++)
		p = take_field(record, schema->field[i], p);
	return p;
}

static inline void
blank_text(struct text *text)
{
	text->at = NULL;
	text->bytes = 0;
}

/* Set what the cursor knows, and clear the members that this kind does not
 * have.  Member by member: gcc clears a struct of this size with `rep stos`,
 * which takes longer than reading an event. */
static inline void
begin_record(struct record *record, const struct wire_cursor *cursor)
{
	schema_copy(&record->node, &cursor->node);
	record->id.session = cursor->id.session;
	record->id.seq = cursor->id.seq;
	record->id.index = cursor->id.index;
	record->receive_ns = cursor->receive_ns;
	record->time_ns = 0;
	record->end_ns = 0;
	record->has_time = false;
	record->has_end = false;
	record->duration_ns = 0;
	record->has_duration = false;
	blank_text(&record->source);
	blank_text(&record->name);
	blank_text(&record->key);
	blank_text(&record->run);
	record->count = 0;
	record->attributes = 0;
	blank_text(&record->pairs);
	record->values = 0;
	blank_text(&record->value_bytes);
}

bool
wire_next(struct wire_cursor *cursor, struct record *record)
{
	const unsigned char *p = (const unsigned char *)cursor->rest.at;
	const unsigned char *end = p + cursor->rest.bytes;
	const struct schema *schema;
	uint32_t elements;
	uint64_t kind;

	for (;;) {
		if (p == end) {
			cursor->rest.bytes = 0;
			return false;
		}
		elements = mp_get_count(&p);
		kind = mp_get_int(&p);
		if (kind != RECORD_CONTEXT)
			break;
		p = take_context(cursor, p, elements);
	}
	assert(kind < RECORD_KINDS);
	begin_record(record, cursor);
	record->kind = (enum record_kind)kind;
	schema = &schemas[kind];
	if (cursor->buckets && kind == RECORD_SAMPLE)
		schema = schema_of_sample(elements);
	if (kind == RECORD_EVENT) /* constant: unrolled */
		p = take_fields(record, &schemas[RECORD_EVENT], p);
	else
		p = take_fields(record, schema, p);
	if (elements > 1u + schema->fields)
		p = mp_skip(p, elements - schema->fields - 1);
	assert(p <= end);
	cursor->id.index++;
	cursor->rest = (struct text){ (const char *)p, (uint32_t)(end - p) };
	return true;
}
