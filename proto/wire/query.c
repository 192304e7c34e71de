/*
 * wire_query - the query of a reader, and positions in the journal.
 * SPDX-License-Identifier: MIT
 */
#include <endian.h>

#include "proto/msgpack/walk.h"
#include "proto/record/node_list.h"
#include "proto/wire/packer.h"
#include "proto/wire/wire.h"

enum {
	QUERY_ELEMENTS_MIN = 7, /* a shorter array may end after these */
	QUERY_ELEMENTS = 10,
	/* A pattern may match "source:name", each of maximum length. */
	PATTERN_BYTES_MAX = 2 * NAME_BYTES_MAX + 1,
};

size_t
wire_put_query(void *to, size_t room, const struct wire_query *query)
{
	struct wire_writer w;

	wire_writer_init(&w, to, room);
	wire_packer_array(&w, QUERY_ELEMENTS);
	wire_packer_uint32(&w, query->kinds);
	wire_packer_text(&w, query->node);
	wire_packer_text(&w, query->name);
	wire_packer_int64(&w, query->from_ns);
	wire_packer_int64(&w, query->to_ns);
	wire_packer_bytes(&w, query->cursor.at, query->cursor.bytes);
	wire_packer_uint32(&w, query->page_bytes);
	wire_packer_int64(&w, query->step_ns);
	wire_packer_text(&w, query->columns);
	wire_packer_uint32(&w, query->per_record);
	return w.full ? 0 : w.bytes;
}

static int64_t
get_step(struct walk *walk)
{
	uint64_t step_ns = walk_uint(walk);

	if (step_ns > INT64_MAX) {
		walk_fail(walk, WALK_LIMIT);
		return 0;
	}
	return (int64_t)step_ns;
}

enum wire_fault
wire_get_query(struct text body, struct wire_query *query)
{
	struct walk walk = walk_over(body);
	uint32_t elements = walk_array(&walk);

	*query = (struct wire_query){ 0 };
	if (walk.fault == WALK_OK && elements < QUERY_ELEMENTS_MIN)
		return WIRE_RECORD;
	query->kinds = walk_uint32(&walk);
	query->node = walk_line(&walk, NODE_LIST_BYTES_MAX);
	query->name = walk_line(&walk, PATTERN_BYTES_MAX);
	query->from_ns = walk_time(&walk);
	query->to_ns = walk_time(&walk);
	query->cursor = walk_bin(&walk);
	if (walk.fault == WALK_OK && node_list_check(query->node, NULL) != 0)
		walk_fail(&walk, WALK_TEXT);
	if (query->cursor.bytes > WIRE_CURSOR_BYTES_MAX)
		walk_fail(&walk, WALK_LIMIT);
	query->page_bytes = walk_uint32(&walk);
	if (elements > QUERY_ELEMENTS_MIN)
		query->step_ns = get_step(&walk);
	if (elements > QUERY_ELEMENTS_MIN + 1)
		query->columns = walk_line(&walk, PATTERN_BYTES_MAX);
	if (elements > QUERY_ELEMENTS_MIN + 2)
		query->per_record = walk_uint32(&walk);
	if (elements > QUERY_ELEMENTS)
		walk_skip(&walk, elements - QUERY_ELEMENTS, 1);
	switch (walk.fault) {
	case WALK_OK: break;
	case WALK_TRUNCATED: return WIRE_TRUNCATED;
	case WALK_SHAPE: return WIRE_RECORD;
	case WALK_DEPTH: return WIRE_DEPTH;
	case WALK_LIMIT: return WIRE_LIMIT;
	case WALK_TEXT: return WIRE_NAME;
	}
	return walk_is_done(&walk) ? WIRE_OK : WIRE_LENGTH;
}

void
wire_put_position(unsigned char to[static WIRE_POSITION_BYTES],
    const struct wire_position *position)
{
	uint64_t entry = htobe64(position->entry);
	uint32_t records = htobe32(position->records);

	memcpy(to, &entry, sizeof(entry));
	memcpy(to + sizeof(entry), &records, sizeof(records));
}

bool
wire_get_position(struct text cursor, struct wire_position *position)
{
	*position = (struct wire_position){ 0 };
	if (cursor.bytes == 0)
		return true;
	if (cursor.bytes != WIRE_POSITION_BYTES)
		return false;
	memcpy(&position->entry, cursor.at, sizeof(position->entry));
	memcpy(&position->records, cursor.at + sizeof(position->entry),
	    sizeof(position->records));
	position->entry = be64toh(position->entry);
	position->records = be32toh(position->records);
	return true;
}
