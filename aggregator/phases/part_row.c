/*
 * part_row - rows of parts: bytes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/part_row.h"

#include <assert.h>
#include <stdlib.h>

#include "aggregator/rows/body_template.h"
#include "proto/base/memory.h"

enum form { FORM_PLAIN, FORM_COLUMNS };

enum {
	STATE_SAME_KEY = 1,
	/* plain: of an event, below the length of its attributes */
	ENTRY_MEASURED = 1,
	ENTRY_NODE = 2,
	ENTRY_END = 4,
	ENTRY_SHIFT = 3,
	/* columns: of an index, which has 30 bits */
	INDEX_END = 1,
	INDEX_MEASURED = 2,
	INDEX_SHIFT = 2,
};

/* ---- keys ---- */

#define SIGN (UINT64_C(1) << 63)

struct text
part_row_put_key(
    unsigned char to[static PART_ROW_KEY_BYTES], const struct part_row_key *key)
{
	varint_put_u32_be(to, key->partition);
	varint_put_u32_be(to + 4, key->phase);
	varint_put_u32_be(to + 8, key->part);
	varint_put_u64_be(to + 12, key->key_hash);
	varint_put_u32_be(to + 20, key->scope);
	varint_put_u64_be(to + 24, (uint64_t)key->time_ns ^ SIGN);
	to[32] = key->is_start;
	varint_put_u32_be(to + 33, key->row);
	return (struct text){ (const char *)to, PART_ROW_KEY_BYTES };
}

bool
part_row_get_key(struct text from, struct part_row_key *key)
{
	if (from.bytes != PART_ROW_KEY_BYTES)
		return false;
	key->partition = varint_get_u32_be(from.at);
	key->phase = varint_get_u32_be(from.at + 4);
	key->part = varint_get_u32_be(from.at + 8);
	key->key_hash = varint_get_u64_be(from.at + 12);
	key->scope = varint_get_u32_be(from.at + 20);
	key->time_ns = (int64_t)(varint_get_u64_be(from.at + 24) ^ SIGN);
	key->is_start = from.at[32] != 0;
	key->row = varint_get_u32_be(from.at + 33);
	return true;
}

/* ---- plain rows ---- */

static bool
same_state(const struct part_row_item *a, const struct part_row_item *b)
{
	return a->key_hash == b->key_hash && a->scope == b->scope;
}

static void
put_hash(struct buffer *to, uint64_t hash)
{
	varint_put_u64_be(buffer_need(to, 8), hash);
	to->bytes += 8;
}

static uint64_t
get_hash(struct varint_reader *u)
{
	struct text bytes = varint_get_bytes(u, 8);

	return u->bad ? 0 : varint_get_u64_be(bytes.at);
}

static void
put_state(struct buffer *to, const struct part_row_item *item, bool same_key)
{
	varint_put(to, same_key ? STATE_SAME_KEY : 0);
	if (!same_key) {
		put_hash(to, item->key_hash);
		varint_put_text(to, item->key);
	}
	varint_put(to, item->scope);
}

static void
put_entry(struct buffer *to, const struct phase_entry *entry, int64_t base,
    uint32_t scope)
{
	unsigned char *start, *at;
	bool node = entry->node != scope;

	start = at =
	    buffer_need(to, 8 * VARINT_BYTES + (size_t)entry->id.body.bytes);
	at = varint_encode(at, varint_delta(base, entry->id.time_ns));
	at = varint_encode(at, entry->id.stream);
	at = varint_encode(at, entry->id.seq);
	at = varint_encode(at, entry->id.index);
	at = varint_encode(
	    at, varint_delta(entry->id.time_ns, entry->id.receive_ns));
	at = varint_encode(at, (uint64_t)entry->id.body.bytes << ENTRY_SHIFT |
				   (entry->is_end ? ENTRY_END : 0) |
				   (node ? ENTRY_NODE : 0) |
				   (entry->measured ? ENTRY_MEASURED : 0));
	if (node)
		at = varint_encode(at, entry->node);
	if (entry->measured)
		at = varint_encode(at, varint_zigzag(entry->measured_ns));
	if (entry->id.body.bytes > 0)
		memcpy(at, entry->id.body.at, entry->id.body.bytes);
	to->bytes += (size_t)(at - start) + entry->id.body.bytes;
}

static void
get_entry(struct varint_reader *u, struct phase_entry *entry, int64_t base,
    uint32_t scope)
{
	uint64_t form;

	entry->id.time_ns = varint_undelta(base, varint_get(u));
	entry->id.stream = varint_get_u32(u);
	entry->id.seq = varint_get(u);
	entry->id.index = varint_get_u32(u);
	entry->id.receive_ns = varint_undelta(entry->id.time_ns, varint_get(u));
	form = varint_get_max(u, UINT32_MAX);
	entry->is_end = (form & ENTRY_END) != 0;
	entry->node = form & ENTRY_NODE ? varint_get_u32(u) : scope;
	entry->measured = (form & ENTRY_MEASURED) != 0;
	entry->measured_ns =
	    entry->measured ? varint_unzigzag(varint_get(u)) : 0;
	entry->id.body = varint_get_bytes(u, form >> ENTRY_SHIFT);
}

/* A state is followed by its events, an event by 1 if another one of the state
 * follows, else by 0. */
uint32_t
part_row_put_plain(
    struct buffer *to, const struct part_row_item *items, uint32_t count)
{
	size_t limit = to->bytes + PART_ROW_PLAIN_BYTES;
	int64_t base = 0;
	uint32_t i;

	varint_put(to, FORM_PLAIN);
	for (i = 0; i < count && to->bytes < limit; i++) {
		bool begins = i == 0 || !same_state(&items[i], &items[i - 1]);

		if (i > 0)
			varint_put(to, !begins);
		if (begins)
			put_state(to, &items[i],
			    i > 0 &&
				items[i].key_hash == items[i - 1].key_hash);
		put_entry(to, &items[i].entry, base, items[i].scope);
		base = items[i].entry.id.time_ns;
	}
	varint_put(to, 0);
	return i;
}

static struct part_row_state *
new_state(struct part_row *row)
{
	return MEMORY_ADD(row->state, row->state_room, row->states);
}

static struct phase_entry *
new_entry(struct part_row *row)
{
	return MEMORY_ADD(row->at, row->room, row->count);
}

static void
get_state(struct part_row *row, struct varint_reader *u)
{
	bool same_key = varint_get_max(u, STATE_SAME_KEY) != 0;
	struct part_row_state *state = new_state(row);

	state->from = row->count;
	if (!same_key) {
		state->key_hash = get_hash(u);
		state->key = varint_get_text(u);
	} else if (row->states > 1) {
		state->key_hash = state[-1].key_hash;
		state->key = state[-1].key;
	} else {
		u->bad = true;
	}
	state->scope = varint_get_u32(u);
}

static bool
open_plain(struct part_row *row, struct varint_reader *u)
{
	int64_t base = 0;
	bool same = false;

	while (!u->bad && u->at < u->end) {
		struct phase_entry *entry;

		if (!same)
			get_state(row, u);
		entry = new_entry(row);
		get_entry(u, entry, base, row->state[row->states - 1].scope);
		base = entry->id.time_ns;
		row->state[row->states - 1].to = row->count;
		same = varint_get_max(u, 1) != 0;
	}
	row->is_complete = true;
	return !u->bad && !same && row->count > 0;
}

/* ---- rows of columns ---- */

static void
put_body(struct buffer *to, const struct part_row_item *item)
{
	const struct phase_entry *entry = &item->entry;
	bool node = entry->node != item->scope;

	varint_put(to, (entry->measured ? BODY_TEMPLATE_PHASE_MEASURED : 0) |
			   (node ? BODY_TEMPLATE_PHASE_NODE : 0));
	if (node)
		varint_put(to, entry->node);
	if (entry->measured)
		varint_put(to, varint_zigzag(entry->measured_ns));
	buffer_put_text(to, entry->id.body);
}

/* The keys, in order; returns their number. */
static void
put_keys(struct buffer *to, const struct part_row_item *items, uint32_t count)
{
	uint32_t keys = 0;

	for (uint32_t i = 0; i < count; i++)
		keys += i == 0 || items[i].key_hash != items[i - 1].key_hash;
	varint_put(to, keys);
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && items[i].key_hash == items[i - 1].key_hash)
			continue;
		put_hash(to, items[i].key_hash);
		varint_put_text(to, items[i].key);
	}
}

void
part_row_put_columns(struct buffer *to, struct compacted_row_writer *writer,
    const struct part_row_item *items, uint32_t count)
{
	struct compacted_row_item *rows = memory_alloc(count * sizeof(*rows));
	struct buffer bodies = { NULL, 0, 0 };
	uint32_t number = 0, i;
	size_t at = 0;

	assert(count > 0 && count <= PART_ROW_COLUMNS);
	varint_put(to, FORM_COLUMNS);
	put_keys(to, items, count);
	for (i = 0; i < count; i++) {
		const struct phase_entry *entry = &items[i].entry;

		number += i > 0 && items[i].key_hash != items[i - 1].key_hash;
		rows[i] = (struct compacted_row_item){ items[i].scope, number,
			entry->id };
		rows[i].record.index = entry->id.index << INDEX_SHIFT |
				       (entry->measured ? INDEX_MEASURED : 0) |
				       (entry->is_end ? INDEX_END : 0);
		put_body(&bodies, &items[i]);
		rows[i].record.body.bytes = (uint32_t)(bodies.bytes - at);
		at = bodies.bytes;
	}
	for (at = i = 0; i < count; at += rows[i++].record.body.bytes)
		rows[i].record.body.at = (const char *)bodies.at + at;
	buffer_put_text(
	    to, compacted_row_write(writer, RECORD_PHASE, rows, count));
	buffer_clear(&bodies);
	free(rows);
}

/* The keys of a row of columns, for the moment as states. */
static bool
get_keys(struct part_row *row, struct varint_reader *u)
{
	uint64_t keys = varint_get_max(u, PART_ROW_COLUMNS);

	for (; keys > 0 && !u->bad; keys--) {
		struct part_row_state *state = new_state(row);

		state->key_hash = get_hash(u);
		state->key = varint_get_text(u);
	}
	return !u->bad;
}

static bool
get_states(struct part_row *row)
{
	const struct compacted_row_rows *columns = &row->columns;
	uint32_t keys = row->states;

	for (uint32_t i = 0; i < columns->series_blocks; i++) {
		const struct compacted_row_series_block *block =
		    &columns->series_block[i];
		struct part_row_state *state = new_state(row);

		if (block->track >= keys)
			return false;
		*state = row->state[block->track];
		state->scope = block->node;
		state->from = block->from;
		state->to = block->to;
	}
	row->states -= keys;
	memmove(
	    row->state, row->state + keys, row->states * sizeof(*row->state));
	return row->states > 0;
}

static bool
open_columns(struct part_row *row, struct varint_reader *u)
{
	struct compacted_row_rows *columns = &row->columns;

	if (!get_keys(row, u) ||
	    !compacted_row_open(columns, varint_get_bytes(u, varint_left(u))) ||
	    !compacted_row_read_ids(columns) || !get_states(row))
		return false;
	for (uint32_t i = 0; i < columns->count; i++) {
		struct phase_entry *entry = new_entry(row);

		*entry = (struct phase_entry){ .is_end = false };
		compacted_row_get_id(columns, i, &entry->id);
		entry->is_end = (entry->id.index & INDEX_END) != 0;
		entry->measured = (entry->id.index & INDEX_MEASURED) != 0;
		entry->id.index >>= INDEX_SHIFT;
	}
	return true;
}

static bool
get_body(struct phase_entry *entry, struct text body, uint32_t scope)
{
	struct varint_reader u = varint_reader_of(body);
	uint64_t form = varint_get_max(
	    &u, BODY_TEMPLATE_PHASE_MEASURED | BODY_TEMPLATE_PHASE_NODE);

	entry->node =
	    form & BODY_TEMPLATE_PHASE_NODE ? varint_get_u32(&u) : scope;
	entry->measured_ns = form & BODY_TEMPLATE_PHASE_MEASURED
				 ? varint_unzigzag(varint_get(&u))
				 : 0;
	entry->id.body = varint_get_bytes(&u, varint_left(&u));
	return !u.bad;
}

bool
part_row_complete(struct part_row *row)
{
	struct compacted_row_rows *columns = &row->columns;
	struct row_block_item item;

	if (row->is_complete)
		return true;
	if (!compacted_row_read_bodies(columns))
		return false;
	for (uint32_t s = 0; s < row->states; s++)
		for (uint32_t i = row->state[s].from; i < row->state[s].to;
		     i++) {
			compacted_row_get(columns, i, &item);
			if (!get_body(
				&row->at[i], item.body, row->state[s].scope))
				return false;
		}
	row->is_complete = true;
	return true;
}

/* ---- both ---- */

void
part_row_clear(struct part_row *row)
{
	free(row->state);
	free(row->at);
	buffer_clear(&row->bytes);
	compacted_row_rows_clear(&row->columns);
	*row = (struct part_row){ .state = NULL };
}

bool
part_row_open(struct part_row *row, struct text value)
{
	struct varint_reader u;
	enum form form;

	row->states = row->count = 0;
	row->is_complete = false;
	row->bytes.bytes = 0;
	buffer_put_text(&row->bytes, value);
	u = varint_reader_of(buffer_text(&row->bytes));
	form = (enum form)varint_get_max(&u, FORM_COLUMNS);
	if (!u.bad &&
	    (form == FORM_PLAIN ? open_plain(row, &u) : open_columns(row, &u)))
		return true;
	row->states = row->count = 0;
	return false;
}
