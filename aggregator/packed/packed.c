/*
 * packed - rows of two tables: single ones, and those in blocks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/packed_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/chunk/chunk.h"
#include "proto/base/memory.h"

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
packed_same_front(struct text a, struct text b)
{
	return a.bytes >= PACKED_FRONT_BYTES && b.bytes >= PACKED_FRONT_BYTES &&
	       memcmp(a.at, b.at, PACKED_FRONT_BYTES) == 0;
}

struct text
packed_rest(struct text key)
{
	assert(key.bytes >= PACKED_FRONT_BYTES);
	return (struct text){ key.at + PACKED_FRONT_BYTES,
		key.bytes - PACKED_FRONT_BYTES };
}

struct text
packed_row_key(unsigned char to[static DB_KEY_BYTES_MAX],
    const unsigned char front[static PACKED_FRONT_BYTES], struct text rest)
{
	assert(rest.bytes <= BLOCK_KEY_ROOM);
	memcpy(to, front, PACKED_FRONT_BYTES);
	memcpy(to + PACKED_FRONT_BYTES, rest.at, rest.bytes);
	return (
	    struct text){ (const char *)to, PACKED_FRONT_BYTES + rest.bytes };
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
	    db_seek_key(cursor, key, &at) && packed_same_front(at, key);

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
	if (block_read(packed->block, packed_block_key(packed), bytes))
		return true;
	db_note_damage(txn, table.blocks, packed_block_key(packed));
	return false;
}

/* The place of a row in the block that was found and read; false: it is not
 * there. */
static bool
find_row(const struct packed *packed, struct text key, uint32_t *place)
{
	const struct block *block = packed->block;

	*place = block_find(block, packed_rest(key));
	return *place < block->count &&
	       text_equal(block->rest[*place], packed_rest(key));
}

static bool
read_block_of(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key, uint32_t *place)
{
	struct text bytes;

	return packed_find_block(packed, txn, table, key, &bytes) &&
	       block_may_have(bytes, key) &&
	       packed_read_block(packed, txn, table, bytes) &&
	       find_row(packed, key, place);
}

bool
packed_get(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key, struct text *value)
{
	uint32_t place;

	/* A row that is damaged is in no block. */
	if (db_get(txn, table.rows, key, value))
		return true;
	if (db_was_damaged(txn) || key.bytes <= PACKED_FRONT_BYTES)
		return false;
	if (read_block_of(packed, txn, table, key, &place)) {
		*value = packed->block->value[place];
		return true;
	}
	/* Is one of the blocks next to its place damaged? */
	if (!db_was_damaged(txn))
		db_get(txn, table.blocks, key, value);
	*value = (struct text){ NULL, 0 };
	return false;
}

/* ---- changes ---- */

void
packed_put_block(struct packed *packed, struct db_txn *txn,
    struct packed_table table,
    const unsigned char front[static PACKED_FRONT_BYTES],
    const struct text *rest, const struct text *value, uint32_t count)
{
	unsigned char key[DB_KEY_BYTES_MAX];

	block_write(packed->writer, rest, value, count, &packed->value);
	db_put(txn, table.blocks, packed_row_key(key, front, rest[count - 1]),
	    buffer_text(&packed->value));
}

/* Write the block again without a row.  False: no block has it. */
static bool
take_out(struct packed *packed, struct db_txn *txn, struct packed_table table,
    struct text key)
{
	struct block *block = packed->block;
	uint32_t place, left;

	if (key.bytes <= PACKED_FRONT_BYTES ||
	    !read_block_of(packed, txn, table, key, &place))
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

void
packed_unpack(struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text key)
{
	struct block *block = packed->block;
	unsigned char row_key[DB_KEY_BYTES_MAX];
	uint32_t place;

	if (!read_block_of(packed, txn, table, key, &place))
		return;
	db_del(txn, table.blocks, packed_block_key(packed));
	for (uint32_t i = 0; i < block->count; i++)
		db_put(txn, table.rows,
		    packed_row_key(row_key, block->front, block->rest[i]),
		    block->value[i]);
}
