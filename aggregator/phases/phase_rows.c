/*
 * phase_rows - the rows that the events of a phase are stored in: where one
 * begins, its key and its bytes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase.h"

#include "proto/base/memory.h"

enum {
	FLAG_FIFO = 1,
	ENTRY_MEASURED = 1,
	ENTRY_NODE = 2,
	ENTRY_END = 4,
	ENTRY_SHIFT = 3,
};

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

/* ---- where a row ends ---- */

/* May a row begin with event `i`?  Events of one time that are all starts, or
 * all ends, stay together. */
static bool
may_begin(const struct phase_row *row, uint32_t i)
{
	return row->at[i - 1].is_end != row->at[i].is_end ||
	       row->at[i - 1].id.time_ns != row->at[i].id.time_ns;
}

uint32_t
phase_row_split(const struct phase_row *row, uint32_t first)
{
	uint32_t left = row->count - first, open = 0, i;

	if (left <= PHASE_ROW_EVENTS)
		return left;
	for (i = 1; i < left; i++) {
		uint32_t partner = row->at[first + i - 1].partner;

		/* Pairs on both sides of event `i`. */
		if (partner != PAIRING_ALONE && partner >= i)
			open++;
		else if (partner != PAIRING_ALONE)
			open--;
		if (i < PHASE_SPLIT || !may_begin(row, first + i))
			continue;
		if (open == 0 || (left > PHASE_ROW_EVENTS_MAX &&
				     i >= PHASE_ROW_EVENTS_MAX - PHASE_INSTANT))
			return i;
	}
	return left;
}

/* ---- bytes ---- */

void
phase_row_encode(const struct phase_row *row, uint32_t first, uint32_t count,
    uint32_t scope, struct buffer *to)
{
	int64_t base_ns = 0;

	varint_put(to, row->fifo ? FLAG_FIFO : 0);
	varint_put_text(to, row->key);
	varint_put(to, count);
	for (uint32_t i = first; i < first + count; i++) {
		put_entry(to, &row->at[i], base_ns, scope);
		base_ns = row->at[i].id.time_ns;
	}
}

bool
phase_row_decode(struct phase_row *row, struct text value, uint32_t scope)
{
	struct varint_reader u = varint_reader_of(value);
	bool fifo = (varint_get_max(&u, FLAG_FIFO) & FLAG_FIFO) != 0;
	int64_t base_ns = 0;
	uint32_t count;

	phase_row_reset(row, varint_get_text(&u), fifo);
	count = (uint32_t)varint_get_max(&u, PHASE_ROW_EVENTS_MAX);
	for (; count > 0 && !u.bad; count--) {
		row->at = memory_grow(
		    row->at, &row->room, row->count, sizeof(*row->at));
		get_entry(&u, &row->at[row->count], base_ns, scope);
		base_ns = row->at[row->count++].id.time_ns;
	}
	if (u.bad || u.at != u.end)
		row->count = 0;
	phase_row_pair(row, 0, row->count);
	return !u.bad && u.at == u.end;
}

/* ---- keys ---- */

#define SIGN (UINT64_C(1) << 63)

struct phase_point
phase_point_of(const struct phase_entry *entry)
{
	return (struct phase_point){ entry->id.time_ns, !entry->is_end };
}

static void
put_point(unsigned char to[static 9], struct phase_point point)
{
	varint_put_u64_be(to, (uint64_t)point.time_ns ^ SIGN);
	to[8] = point.starts;
}

struct text
phase_row_key(unsigned char key[static PHASE_KEY_BYTES_MAX],
    const struct key_phase *phase, const struct phase_row *row, uint32_t first)
{
	struct phase_point point = phase_point_of(&row->at[first]);

	/* If no event before it has the same time, later ones with it belong
	 * here too. */
	if (row->at[first - 1].id.time_ns != point.time_ns)
		point.starts = false;
	key_put_phase(key, phase);
	put_point(key + KEY_PHASE_BYTES, point);
	return (struct text){ (const char *)key, PHASE_KEY_BYTES_MAX };
}

bool
phase_row_get_key(struct text key, struct key_phase *phase)
{
	return (key.bytes == KEY_PHASE_BYTES ||
		   key.bytes == PHASE_KEY_BYTES_MAX) &&
	       key_get_phase((struct text){ key.at, KEY_PHASE_BYTES }, phase);
}

bool
phase_row_is_from(struct text key, const struct phase_entry *entry)
{
	unsigned char bytes[9];

	put_point(bytes, phase_point_of(entry));
	return key.bytes == KEY_PHASE_BYTES ||
	       memcmp(key.at + KEY_PHASE_BYTES, bytes, sizeof(bytes)) <= 0;
}

/* ---- neighbours ---- */

static bool
is_same(struct text key, struct text other)
{
	return key.bytes >= KEY_PHASE_BYTES &&
	       memcmp(key.at, other.at, KEY_PHASE_BYTES) == 0;
}

/* Moves to the first row with a greater key, of any phase, or behind all. */
static bool
seek_after(struct db_cursor *cursor, struct text after, struct text *key,
    struct text *value)
{
	/* One more byte: the next key that there can be. */
	unsigned char bytes[PHASE_KEY_BYTES_MAX + 1] = { 0 };

	memcpy(bytes, after.at, after.bytes);
	return db_seek(cursor,
	    (struct text){ (const char *)bytes, after.bytes + 1 }, key, value);
}

bool
phase_row_after(struct db_cursor *cursor, struct text *key, struct text *value)
{
	struct text after = *key;

	return seek_after(cursor, after, key, value) && is_same(*key, after);
}

bool
phase_row_before(struct db_cursor *cursor, struct text *key, struct text *value)
{
	struct text before = *key;

	if (db_seek(cursor, before, key, value) ? !db_prev(cursor, key, value)
						: !db_last(cursor, key, value))
		return false;
	return is_same(*key, before);
}

bool
phase_row_find(struct db_cursor *cursor, const struct key_phase *phase,
    struct phase_point point, struct text *key, struct text *value)
{
	unsigned char bytes[PHASE_KEY_BYTES_MAX];
	struct text at = { (const char *)bytes, sizeof(bytes) };

	key_put_phase(bytes, phase);
	put_point(bytes + KEY_PHASE_BYTES, point);
	if (seek_after(cursor, at, key, value) ? !db_prev(cursor, key, value)
					       : !db_last(cursor, key, value))
		return false;
	return is_same(*key, at);
}
