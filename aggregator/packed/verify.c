/*
 * verify - check the blocks of a table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/packed_private.h"

#include <string.h>

/* The block that was read: is one of its rows a single row, too? */
static bool
has_single_row(
    const struct packed *packed, struct db_txn *txn, struct packed_table table)
{
	const struct block *block = packed->block;
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text value;

	for (uint32_t i = 0; i < block->count; i++)
		if (db_get(txn, table.rows,
			packed_row_key(
			    key, table, block->front, block->rest[i]),
			&value))
			return true;
	return false;
}

/* `end`: the key of the block before it. */
static const char *
find_fault(const struct packed *packed, struct db_txn *txn,
    struct packed_table table, struct text end)
{
	const struct block *block = packed->block;
	unsigned char key[DB_KEY_BYTES_MAX];

	if (end.bytes > 0 &&
	    text_compare(end,
		packed_row_key(key, table, block->front, block->rest[0])) >= 0)
		return "a block begins before the end of the one before it";
	return has_single_row(packed, txn, table)
		   ? "a row of a block is a single row, too"
		   : NULL;
}

void
packed_verify(struct packed *packed, struct db_txn *txn,
    struct packed_table table, void (*report)(void *arg, const char *sentence),
    void *arg)
{
	struct db_cursor *cursor = db_cursor_open(txn, table.blocks);
	struct text key, bytes, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &bytes);
	const char *fault;

	packed->key_bytes = 0;
	for (; more; more = db_next(cursor, &key, &bytes)) {
		fault = "a block is malformed";
		if (block_read(packed->block, table.front, key, bytes))
			fault = find_fault(
			    packed, txn, table, packed_block_key(packed));
		if (fault != NULL)
			report(arg, fault);
		memcpy(packed->key, key.at, key.bytes);
		packed->key_bytes = key.bytes;
	}
	db_cursor_close(&cursor);
}
