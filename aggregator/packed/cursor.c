/*
 * cursor - walk over the rows of two tables in the order of their keys.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/packed_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

struct packed_cursor {
	struct db_txn *txn;
	struct packed_table table;
	struct db_cursor *rows, *blocks;
	/* The next single row: a copy, because the caller may write. */
	struct buffer row;
	struct text row_key, row_value;
	bool has_row;
	/* The next row of a block. */
	struct block *block;
	uint32_t place;
	bool has_block;
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text block_key;              /* of that row */
	enum { NOTHING, ROW, PACKED } last; /* what was found last */
};

struct packed_cursor *
packed_cursor_open(struct db_txn *txn, struct packed_table table)
{
	struct packed_cursor *cursor = memory_zero(1, sizeof(*cursor));

	cursor->txn = txn;
	cursor->table = table;
	cursor->rows = db_cursor_open(txn, table.rows);
	cursor->blocks = db_cursor_open(txn, table.blocks);
	cursor->block = block_new();
	return cursor;
}

void
packed_cursor_close(struct packed_cursor **cursor)
{
	if (*cursor == NULL)
		return;
	db_cursor_close(&(*cursor)->rows);
	db_cursor_close(&(*cursor)->blocks);
	block_free(&(*cursor)->block);
	buffer_clear(&(*cursor)->row);
	free(*cursor);
	*cursor = NULL;
}

static void
take_row(
    struct packed_cursor *cursor, bool has, struct text key, struct text value)
{
	const char *at;

	cursor->has_row = has;
	if (!has)
		return;
	cursor->row.bytes = 0;
	buffer_put_text(&cursor->row, key);
	buffer_put_text(&cursor->row, value);
	at = (const char *)cursor->row.at;
	cursor->row_key = (struct text){ at, key.bytes };
	cursor->row_value = (struct text){ at + key.bytes, value.bytes };
}

static void
take_packed(struct packed_cursor *cursor)
{
	struct block *block = cursor->block;

	cursor->block_key = packed_row_key(cursor->key, cursor->table,
	    block->front, block->rest[cursor->place]);
}

/* From this block on, the first one that can be read. */
static void
take_block(
    struct packed_cursor *cursor, bool has, struct text key, struct text bytes)
{
	while (has &&
	       !block_read(cursor->block, cursor->table.front, key, bytes)) {
		db_note_damage(cursor->txn, cursor->table.blocks, key);
		has = db_next(cursor->blocks, &key, &bytes);
	}
	cursor->has_block = has;
	cursor->place = 0;
	if (has)
		take_packed(cursor);
}

/* From this block on backwards, the first one that can be read, and its last
 * row. */
static void
take_block_before(
    struct packed_cursor *cursor, bool has, struct text key, struct text bytes)
{
	while (has &&
	       !block_read(cursor->block, cursor->table.front, key, bytes)) {
		db_note_damage(cursor->txn, cursor->table.blocks, key);
		has = db_prev(cursor->blocks, &key, &bytes);
	}
	cursor->has_block = has;
	if (!has)
		return;
	cursor->place = cursor->block->count - 1;
	take_packed(cursor);
}

/* The lesser key of the two, or the greater one.  A key is in one table; in a
 * store where it is in both, the single row is the later one. */
static bool
choose(struct packed_cursor *cursor, bool is_back, struct text *found,
    struct text *value)
{
	int order = 0;

	if (cursor->has_row && cursor->has_block)
		order = text_compare(cursor->row_key, cursor->block_key);
	else if (cursor->has_block)
		order = is_back ? -1 : 1;
	if (is_back)
		order = -order;

	cursor->last = NOTHING;
	if (!cursor->has_row && !cursor->has_block)
		return false;
	cursor->last = order <= 0 ? ROW : PACKED;
	*found = order <= 0 ? cursor->row_key : cursor->block_key;
	*value = order <= 0 ? cursor->row_value
			    : cursor->block->value[cursor->place];
	return true;
}

bool
packed_seek(struct packed_cursor *cursor, struct text key, struct text *found,
    struct text *value)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	unsigned char copy[DB_KEY_BYTES_MAX];
	bool has;

	/* It may be what was found last. */
	if (key.bytes > 0)
		memcpy(copy, key.at, key.bytes);
	key.at = (const char *)copy;
	has = db_seek(cursor->rows, key, &at, &bytes);
	take_row(cursor, has, at, bytes);
	has = db_seek(cursor->blocks, key, &at, &bytes);
	take_block(cursor, has, at, bytes);
	if (cursor->has_block &&
	    packed_same_front(cursor->table, cursor->block_key, key)) {
		cursor->place =
		    block_find(cursor->block, packed_rest(cursor->table, key));
		take_packed(cursor);
	}
	return choose(cursor, false, found, value);
}

static void
skip_packed(struct packed_cursor *cursor)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	bool has;

	if (++cursor->place < cursor->block->count) {
		take_packed(cursor);
		return;
	}
	has = db_next(cursor->blocks, &at, &bytes);
	take_block(cursor, has, at, bytes);
}

bool
packed_next(
    struct packed_cursor *cursor, struct text *found, struct text *value)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	bool has;

	if (cursor->last == ROW && cursor->has_block &&
	    text_equal(cursor->row_key, cursor->block_key))
		skip_packed(cursor);
	if (cursor->last == ROW) {
		has = db_next(cursor->rows, &at, &bytes);
		take_row(cursor, has, at, bytes);
	} else if (cursor->last == PACKED) {
		skip_packed(cursor);
	}
	return choose(cursor, false, found, value);
}

/* ---- backwards ---- */

static void
skip_packed_before(struct packed_cursor *cursor)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	bool has;

	if (cursor->place > 0) {
		cursor->place--;
		take_packed(cursor);
		return;
	}
	has = db_prev(cursor->blocks, &at, &bytes);
	take_block_before(cursor, has, at, bytes);
}

/* The last row of a block that is before `key`. */
static void
seek_packed_before(struct packed_cursor *cursor, struct text key)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	bool has = db_seek(cursor->blocks, key, &at, &bytes);

	if (!has) {
		has = db_last(cursor->blocks, &at, &bytes);
		take_block_before(cursor, has, at, bytes);
		return;
	}
	take_block_before(cursor, has, at, bytes);
	while (cursor->has_block && text_compare(cursor->block_key, key) >= 0) {
		bool is_here =
		    packed_same_front(cursor->table, cursor->block_key, key);

		/* Its first row if the others are not before the key. */
		cursor->place = is_here ? block_find(cursor->block,
					      packed_rest(cursor->table, key))
					: 0;
		skip_packed_before(cursor);
	}
}

bool
packed_seek_before(struct packed_cursor *cursor, struct text key,
    struct text *found, struct text *value)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	unsigned char copy[DB_KEY_BYTES_MAX];
	bool has;

	/* It may be what was found last. */
	memcpy(copy, key.at, key.bytes);
	key.at = (const char *)copy;
	has = db_seek(cursor->rows, key, &at, &bytes)
		  ? db_prev(cursor->rows, &at, &bytes)
		  : db_last(cursor->rows, &at, &bytes);
	take_row(cursor, has, at, bytes);
	seek_packed_before(cursor, key);
	return choose(cursor, true, found, value);
}

bool
packed_previous(
    struct packed_cursor *cursor, struct text *found, struct text *value)
{
	struct text at = { NULL, 0 }, bytes = { NULL, 0 };
	bool has;

	if (cursor->last == ROW && cursor->has_block &&
	    text_equal(cursor->row_key, cursor->block_key))
		skip_packed_before(cursor);
	if (cursor->last == ROW) {
		has = db_prev(cursor->rows, &at, &bytes);
		take_row(cursor, has, at, bytes);
	} else if (cursor->last == PACKED) {
		skip_packed_before(cursor);
	}
	return choose(cursor, true, found, value);
}
