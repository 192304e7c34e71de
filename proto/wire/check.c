/*
 * wire_check - validate every byte of a body.
 *
 * One walk over the plain body before any record is read; after it the readers
 * need no bounds checks.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "proto/base/memory.h"
#include "proto/msgpack/walk.h"
#include "proto/msgpack/walk_quick.h"
#include "proto/record/schema.h"
#include "proto/wire/wire.h"

enum { ROOM_BYTES_MIN = 256 << 10 };

/* What a body may contain, and what this one contains. */
struct check {
	struct walk walk;
	bool page;    /* else a batch */
	bool once;    /* batch of an import: contexts may have identities */
	bool context; /* page: the last record was one */
	uint32_t records;
};

static enum wire_fault
fault_of(enum walk_fault fault)
{
	switch (fault) {
	case WALK_OK: return WIRE_OK;
	case WALK_TRUNCATED: return WIRE_TRUNCATED;
	case WALK_SHAPE: return WIRE_RECORD;
	case WALK_DEPTH: return WIRE_DEPTH;
	case WALK_LIMIT:
	case WALK_TEXT: break;
	}
	return WIRE_LIMIT;
}

/* ---- one record ---- */

static void
check_id(struct walk *walk, struct text id, bool may_be_empty)
{
	if (id.bytes != RECORD_ID_BYTES && !(may_be_empty && id.bytes == 0))
		walk_fail(walk, WALK_LIMIT);
}

static void
check_attributes(struct walk *walk, uint32_t text_bytes_max)
{
	uint32_t pairs = walk_map(walk);

	if (pairs > RECORD_ATTRIBUTES_MAX)
		walk_fail(walk, WALK_LIMIT);
	walk_pairs(walk, pairs, text_bytes_max);
}

static void
check_values(struct walk *walk)
{
	uint32_t values = walk_array(walk);

	if (values > RECORD_VALUES_MAX)
		walk_fail(walk, WALK_LIMIT);
	for (; values > 0; values--) {
		/* Most values are doubles: check those without a call. */
		if (walk->end - walk->at >= 9 && *walk->at == MP_FLOAT64)
			walk->at += 9;
		else if (!walk_value(walk))
			break;
	}
}

static void
check_field(struct walk *walk, enum schema_field field, enum record_kind kind)
{
	switch (field) {
	case SCHEMA_MAYBE_TIME:
	case SCHEMA_MAYBE_END:
		if (walk_nil(walk))
			break;
		/* fall through */
	case SCHEMA_TIME:
	case SCHEMA_END: walk_time(walk); break;
	case SCHEMA_DURATION:
		if (!walk_nil(walk))
			walk_int(walk);
		break;
	case SCHEMA_SOURCE:
	case SCHEMA_NAME: walk_name(walk); break;
	case SCHEMA_RUN:
	case SCHEMA_CATEGORY: walk_line(walk, NAME_BYTES_MAX); break;
	case SCHEMA_KEY: walk_text(walk, RECORD_TEXT_BYTES_MAX); break;
	case SCHEMA_UUID:
		if (!walk_nil(walk))
			check_id(walk, walk_bin(walk), false);
		break;
	case SCHEMA_ATTRIBUTES:
		check_attributes(walk, schema_text_bytes_max(kind));
		break;
	case SCHEMA_NUMBERS:
		if (walk->at < walk->end && mp_is_bin(*walk->at)) {
			walk_bin(walk);
			break;
		}
		/* fall through */
	case SCHEMA_VALUES: check_values(walk); break;
	case SCHEMA_COUNT: walk_uint(walk); break;
	case SCHEMA_BYTES: walk_bin(walk); break;
	}
}

/* Check the fields of a record; the common ones without a call. */
static void
check_fields(
    struct walk *walk, const struct schema *schema, enum record_kind kind)
{
	const unsigned char *at = walk->at, *end = walk->end, *next;

	for (unsigned i = 0; i < schema->fields; i++, at = next) {
		switch (schema->field[i]) {
		case SCHEMA_TIME:
		case SCHEMA_END: next = quick_time(at, end); break;
		case SCHEMA_SOURCE:
		case SCHEMA_NAME:
		case SCHEMA_CATEGORY: next = quick_name(at, end); break;
		case SCHEMA_UUID: next = quick_nil(at, end); break;
		case SCHEMA_ATTRIBUTES: next = quick_no_pairs(at, end); break;
		default: next = NULL; break;
		}
		if (next)
			continue;
		walk->at = at;
		check_field(walk, schema->field[i], kind);
		next = walk->at;
	}
	walk->at = at;
}

static void
check_identity(struct walk *walk, bool may_be_empty)
{
	check_id(walk, walk_bin(walk), may_be_empty);
	walk_uint(walk);
	walk_uint32(walk);
	walk_time(walk);
}

/* The number of a journal entry may follow an identity. */
static unsigned
check_entry(struct walk *walk, uint32_t elements)
{
	if (elements < 7)
		return 6;
	walk_uint(walk);
	return 7;
}

/* Check the elements after the kind; returns how many were checked. */
static unsigned
check_context(struct check *check, uint32_t elements)
{
	struct walk *walk = &check->walk;
	const unsigned char *next;

	check->context = true;
	if (!check->page) {
		walk_name(walk);
		if (!check->once || elements < 6)
			return 2;
		check_identity(walk, false);
		return check_entry(walk, elements);
	}
	next = elements >= 6 ? quick_identity(walk->at, walk->end) : NULL;
	if (next) {
		walk->at = next;
	} else {
		/* Statistics of a pool and counters of a process belong to no
		 * node. */
		walk_line(walk, NAME_BYTES_MAX);
		if (elements < 6)
			walk_fail(walk, WALK_SHAPE);
		check_identity(walk, true);
	}
	return check_entry(walk, elements);
}

static enum wire_fault
check_record(struct check *check)
{
	struct walk *walk = &check->walk;
	uint32_t elements = walk_array(walk), seen;
	const struct schema *schema;
	uint64_t kind;

	if (elements < 2)
		return walk->fault == WALK_OK ? WIRE_RECORD
					      : fault_of(walk->fault);
	kind = walk_uint(walk);
	if (kind == RECORD_CONTEXT) {
		seen = check_context(check, elements);
		if (walk->fault == WALK_TEXT)
			return WIRE_NAME;
	} else {
		if (kind >= (check->page ? RECORD_KINDS : RECORD_PHASE))
			return WIRE_RECORD;
		schema = &schemas[kind];
		if (check->page && kind == RECORD_SAMPLE)
			schema = schema_of_sample(elements);
		seen = 1u + schema->fields;
		if (elements < seen || (check->page && !check->context))
			return WIRE_RECORD;
		check_fields(walk, schema, kind);
		check->context = false;
		check->records++;
	}
	if (elements > seen)
		walk_skip(walk, elements - seen, 1);
	return fault_of(walk->fault);
}

static enum wire_fault
check_records(const struct wire_header *header, struct walk walk, bool page)
{
	struct check check = { .walk = walk,
		.page = page,
		.once = !page && wire_is_once(header) };
	enum wire_fault fault;

	if (header->records > WIRE_RECORDS_MAX)
		return WIRE_COUNT;
	while (!walk_is_done(&check.walk)) {
		fault = check_record(&check);
		if (fault != WIRE_OK)
			return fault;
	}
	return check.records == header->records ? WIRE_OK : WIRE_COUNT;
}

/* ---- the plain body ---- */

static void
grow(struct wire_room *room, size_t bytes)
{
	size_t want = ROOM_BYTES_MIN;

	while (want < bytes)
		want *= 2;
	if (room->bytes < want) {
		/* Its content is no longer needed: no realloc. */
		free(room->at);
		room->at = memory_alloc(want);
		room->bytes = want;
	}
	if (room->codec == NULL)
		room->codec = memory_must(ZSTD_createDCtx());
}

static enum wire_fault
decompress(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *plain)
{
	size_t bytes = header->body_bytes;

	if (bytes == 0 || bytes > WIRE_BODY_BYTES_MAX || body.bytes == 0 ||
	    ZSTD_getFrameContentSize(body.at, body.bytes) != bytes ||
	    ZSTD_findFrameCompressedSize(body.at, body.bytes) != body.bytes)
		return WIRE_CODEC;
	grow(room, bytes);
	if (ZSTD_decompressDCtx(
		room->codec, room->at, bytes, body.at, body.bytes) != bytes)
		return WIRE_CODEC;
	*plain = (struct text){ (const char *)room->at, (uint32_t)bytes };
	return WIRE_OK;
}

static enum wire_fault
expand(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *plain)
{
	*plain = (struct text){ 0 };
	if (header->codec == WIRE_ZSTD)
		return decompress(header, body, room, plain);
	if (header->codec != WIRE_NONE || header->body_bytes != body.bytes)
		return WIRE_CODEC;
	*plain = body;
	return WIRE_OK;
}

void
wire_room_clear(struct wire_room *room)
{
	free(room->at);
	ZSTD_freeDCtx(room->codec);
	*room = (struct wire_room){ 0 };
}

enum wire_fault
wire_body(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *plain)
{
	enum wire_fault fault = expand(header, body, room, plain);

	return fault == WIRE_OK
		   ? check_records(header, walk_over(*plain), false)
		   : fault;
}

enum wire_fault
wire_page_body(const struct wire_header *header, struct text body,
    struct wire_room *room, struct text *cursor, struct text *records)
{
	struct text plain;
	struct walk walk;
	enum wire_fault fault = expand(header, body, room, &plain);

	*cursor = *records = (struct text){ 0 };
	if (fault != WIRE_OK)
		return fault;
	walk = walk_over(plain);
	*cursor = walk_bin(&walk);
	if (cursor->bytes > WIRE_CURSOR_BYTES_MAX)
		walk_fail(&walk, WALK_LIMIT);
	if (walk.fault != WALK_OK)
		return fault_of(walk.fault);
	*records =
	    (struct text){ (const char *)walk.at, walk_bytes_left(&walk) };
	return check_records(header, walk, true);
}
