/*
 * packed - rows of two tables: single ones, and those in blocks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/packed_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/chunk/chunk.h"
#include "proto/base/arena.h"
#include "proto/base/memory.h"

enum { UNPACK_BLOCKS = 32 }; /* at once */

struct packed *
packed_new(void)
{
	struct packed *packed = memory_zero(1, sizeof(*packed));

	packed->block = block_new();
	packed->writer = chunk_writer_new();
	return packed;
}

void
packed_free(struct packed **packed)
{
	if (*packed == NULL)
		return;
	block_free(&(*packed)->block);
	chunk_writer_free(&(*packed)->writer);
	buffer_clear(&(*packed)->value);
	buffer_clear(&(*packed)->texts);
	free(*packed);
	*packed = NULL;
}

/* ---- keys ---- */

bool
packed_same_front(struct packed_table table, struct text a, struct text b)
{
	return a.bytes >= table.front && b.bytes >= table.front &&
	       memcmp(a.at, b.at, table.front) == 0;
}

struct text
packed_rest(struct packed_table table, struct text key)
{
	assert(key.bytes >= table.front);
	return (struct text){ key.at + table.front, key.bytes - table.front };
}

struct text
packed_row_key(unsigned char to[static DB_KEY_BYTES_MAX],
    struct packed_table table, const unsigned char *front, struct text rest)
{
	assert(rest.bytes <= BLOCK_KEY_ROOM);
	memcpy(to, front, table.front);
	if (rest.bytes > 0)
		memcpy(to + table.front, rest.at, rest.bytes);
	return (struct text){ (const char *)to, table.front + rest.bytes };
}

struct text
packed_block_key(const struct packed *packed)
{
	return (struct text){ (const char *)packed->key, packed->key_bytes };
}

/* ---- the block of a key ---- */

bool
packed_find_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text *bytes)
{
	struct db_cursor *cursor = db_cursor_open(txn, table.blocks);
	struct text at;
	bool found =
	    db_seek_key(cursor, key, &at) && packed_same_front(table, at, key);

	if (found) {
		memcpy(packed->key, at.at, at.bytes);
		packed->key_bytes = at.bytes;
	}
	db_cursor_close(&cursor);
	return found &&
	       db_get(txn, table.blocks, packed_block_key(packed), bytes);
}

bool
packed_read_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text bytes)
{
	if (block_read(
		packed->block, table.front, packed_block_key(packed), bytes))
		return true;
	db_note_damage(txn, table.blocks, packed_block_key(packed));
	return false;
}

/* The place of a row in the block that was found and read; false: it is not
 * there. */
static bool
find_row(const struct packed *packed, struct text rest, uint32_t *place)
{
	const struct block *block = packed->block;

	*place = block_find(block, rest);
	return *place < block->count && text_equal(block->rest[*place], rest);
}

static bool
read_block_of(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, uint32_t *place)
{
	struct text bytes;

	return key.bytes > table.front &&
	       packed_find_block(packed, txn, table, key, &bytes) &&
	       block_may_have(bytes, packed_rest(table, key)) &&
	       packed_read_block(packed, txn, table, bytes) &&
	       find_row(packed, packed_rest(table, key), place);
}

/* Is one of the blocks next to the place of a key damaged?  The key of a block
 * that a flipped bit has changed is not where its rows are sought.  If so,
 * db_was_damaged is true. */
static void
look_around(struct db_txn *txn, struct packed_table table, struct text key)
{
	struct db_cursor *cursor = db_cursor_open(txn, table.blocks);
	struct text at, bytes;

	/* What is damaged is noted, and passed over. */
	if (db_seek(cursor, key, &at, &bytes))
		db_prev(cursor, &at, &bytes);
	else
		db_last(cursor, &at, &bytes);
	db_cursor_close(&cursor);
}

/* A row that is not single, and of which none is damaged. */
static bool
get_from_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text *value)
{
	uint32_t place;

	if (read_block_of(packed, txn, table, key, &place)) {
		*value = packed->block->value[place];
		return true;
	}
	if (!db_was_damaged(txn))
		look_around(txn, table, key);
	*value = (struct text){ NULL, 0 };
	return false;
}

bool
packed_get(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key, struct text *value)
{
	/* A row that is damaged is in no block. */
	return db_get(txn, table.rows, key, value) ||
	       (!db_was_damaged(txn) &&
		   get_from_block(packed, txn, table, key, value));
}

/* ---- the memory of a transaction ---- */

struct kept {
	struct packed *packed;
	struct arena texts;
};

static void
free_kept(void *memory)
{
	struct kept *kept = memory;

	packed_free(&kept->packed);
	arena_clear(&kept->texts);
	free(kept);
}

static struct kept *
kept_of(struct db_txn *txn)
{
	struct kept *kept = db_txn_memory(txn);

	if (kept == NULL) {
		kept = memory_zero(1, sizeof(*kept));
		kept->packed = packed_new();
		db_txn_set_memory(txn, kept, free_kept);
	}
	return kept;
}

bool
packed_keep(struct db_txn *txn, struct packed_table table, struct text key,
    struct text *value)
{
	struct kept *kept;

	/* Most rows are single ones, and need no memory. */
	if (db_get(txn, table.rows, key, value))
		return true;
	if (db_was_damaged(txn))
		return false;
	kept = kept_of(txn);
	if (!get_from_block(kept->packed, txn, table, key, value))
		return false;
	*value = arena_text(&kept->texts, *value);
	return true;
}

/* ---- changes ---- */

void
packed_put_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table, const unsigned char *front,
    const struct text *rest, const struct text *value, uint32_t count)
{
	unsigned char key[DB_KEY_BYTES_MAX];

	block_write(packed->writer, rest, value, count, &packed->value);
	db_put(txn, table.blocks,
	    packed_row_key(key, table, front, rest[count - 1]),
	    buffer_text(&packed->value));
}

/* Write the block again without a row.  False: no block has it. */
static bool
take_out(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key)
{
	struct block *block = packed->block;
	uint32_t place, left;

	if (!read_block_of(packed, txn, table, key, &place))
		return false;
	left = block->count - 1;
	memmove(block->rest + place, block->rest + place + 1,
	    (left - place) * sizeof(*block->rest));
	memmove(block->value + place, block->value + place + 1,
	    (left - place) * sizeof(*block->value));
	/* Its key is that of its last row. */
	if (place == left)
		db_del(txn, table.blocks, packed_block_key(packed));
	if (left > 0)
		packed_put_block(packed, txn, table, block->front, block->rest,
		    block->value, left);
	block->stored.bytes = 0;
	return true;
}

void
packed_put(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key, struct text value)
{
	struct text old;

	if (!db_get(txn, table.rows, key, &old))
		take_out(packed, txn, table, key);
	db_put(txn, table.rows, key, value);
}

bool
packed_del(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key)
{
	return db_del(txn, table.rows, key) ||
	       take_out(packed, txn, table, key);
}

/* The block that was found and read. */
static void
unpack_block(
    struct packed *packed, struct db_txn *txn, struct packed_table table)
{
	struct block *block = packed->block;
	unsigned char bytes[DB_KEY_BYTES_MAX];

	db_del(txn, table.blocks, packed_block_key(packed));
	for (uint32_t i = 0; i < block->count; i++) {
		struct text old, key = packed_row_key(bytes, table,
				     block->front, block->rest[i]);

		/* As in a walk, a single row wins. */
		if (!db_get(txn, table.rows, key, &old))
			db_put(txn, table.rows, key, block->value[i]);
	}
}

void
packed_unpack(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key)
{
	uint32_t place;

	if (read_block_of(packed, txn, table, key, &place))
		unpack_block(packed, txn, table);
}

/* Find a block from a key on, whatever front it has. */
static bool
find_block_from(struct packed *packed, struct db_txn *txn,
    struct packed_table table, const struct buffer *from)
{
	struct db_cursor *cursor = db_cursor_open(txn, table.blocks);
	struct text at;
	bool found = db_seek_key(cursor, buffer_text(from), &at);

	if (found) {
		memcpy(packed->key, at.at, at.bytes);
		packed->key_bytes = at.bytes;
	}
	db_cursor_close(&cursor);
	return found;
}

bool
packed_unpack_some(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct buffer *from)
{
	struct text bytes;

	for (unsigned i = 0; i < UNPACK_BLOCKS; i++) {
		if (!find_block_from(packed, txn, table, from))
			return false;
		/* One that cannot be read stays. */
		if (db_get(
			txn, table.blocks, packed_block_key(packed), &bytes) &&
		    packed_read_block(packed, txn, table, bytes))
			unpack_block(packed, txn, table);
		from->bytes = 0;
		buffer_put_text(from, packed_block_key(packed));
		if (from->bytes < DB_KEY_BYTES_MAX)
			buffer_put(from, "", 1);
	}
	return !db_failed(txn);
}

int
packed_each(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, struct text bytes,
    packed_row *call, void *arg, struct err *err)
{
	unsigned char room[DB_KEY_BYTES_MAX];
	struct block *block = packed->block;
	int rc = 0;

	if (!block_read(block, table.front, key, bytes)) {
		db_note_damage(txn, table.blocks, key);
		return 0;
	}
	for (uint32_t i = 0; i < block->count && rc == 0; i++)
		rc = call(arg,
		    packed_row_key(room, table, block->front, block->rest[i]),
		    block->value[i], err);
	return rc;
}
