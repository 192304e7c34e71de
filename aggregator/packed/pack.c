/*
 * pack - put single rows that rest into blocks.
 *
 * The range of a block are the keys behind the block before it, up to its own.
 * Rows in the range of a block are merged with it; rows behind the last block
 * become new ones.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/packed/packed_private.h"

#include <string.h>

enum {
	PASS_ROWS = 4096, /* looked at in one call */
	TAIL_ROWS = 8,    /* fewer are not worth a block */
	BLOCK_ROWS = BLOCK_ROWS_MAX / 2,
	MERGE_SHARE = 4, /* of the rows of a block have come into its range */
};

/* A range of keys, and the rows in it. */
struct range {
	struct packed *packed;
	struct db_txn *txn;
	struct packed_pass *pass;
	bool has_block, is_readable;
	struct text bytes; /* of the block */
	bool is_end;       /* no row of the front is behind it */
	uint32_t seen;
};

static struct text
from_key(const struct packed_pass *pass, unsigned char to[DB_KEY_BYTES_MAX])
{
	return packed_row_key(
	    to, pass->table, pass->front, buffer_text(&pass->from));
}

static void
set_from(struct packed_pass *pass, struct text rest)
{
	pass->from.bytes = 0;
	buffer_put_text(&pass->from, rest);
}

static bool
is_in_range(const struct range *range, struct text key)
{
	return !range->has_block ||
	       text_compare(key, packed_block_key(range->packed)) <= 0;
}

static void
gather_row(struct range *range, struct text key, struct text value)
{
	struct packed *packed = range->packed;
	struct packed_pass *pass = range->pass;

	if (value.bytes > PACKED_ROW_BYTES ||
	    !pass->rests(pass->arg, key, value))
		return;
	packed->gathered[packed->count++] =
	    (struct gathered){ key.bytes, value.bytes };
	buffer_put_text(&packed->texts, key);
	buffer_put_text(&packed->texts, value);
}

/* Find the block of the next row, and the rows in its range. */
static void
gather(struct range *range)
{
	struct packed *packed = range->packed;
	struct packed_pass *pass = range->pass;
	struct db_cursor *cursor = db_cursor_open(range->txn, pass->table.rows);
	unsigned char bytes[DB_KEY_BYTES_MAX];
	struct text key, value, from = from_key(pass, bytes);
	bool more = db_seek(cursor, from, &key, &value);

	packed->count = 0;
	packed->texts.bytes = 0;
	range->has_block = false;
	more = more && packed_same_front(pass->table, key, from);
	if (more) {
		packed->key_bytes = 0;
		range->is_readable = packed_find_block(
		    packed, range->txn, pass->table, key, &range->bytes);
		range->has_block = packed->key_bytes > 0;
	}
	for (; more && packed_same_front(pass->table, key, from) &&
	       is_in_range(range, key);
	     range->seen++, more = db_next(cursor, &key, &value)) {
		if (packed->count == GATHER_MAX || range->seen == PASS_ROWS) {
			set_from(pass, packed_rest(pass->table, key));
			db_cursor_close(&cursor);
			return;
		}
		gather_row(range, key, value);
	}
	range->is_end = !more || !packed_same_front(pass->table, key, from);
	if (!range->is_end)
		set_from(pass, packed_rest(pass->table, key));
	db_cursor_close(&cursor);
}

/* The collected rows as texts, in order. */
static void
point(struct packed *packed, struct packed_table table)
{
	const char *at = (const char *)packed->texts.at;

	for (uint32_t i = 0; i < packed->count; i++) {
		const struct gathered *row = &packed->gathered[i];
		struct text key = { at, row->key_bytes };

		packed->rest[i] = packed_rest(table, key);
		packed->value_of[i] =
		    (struct text){ at + row->key_bytes, row->value_bytes };
		at += row->key_bytes + row->value_bytes;
	}
}

static void
delete_rows(struct range *range, uint32_t count)
{
	const char *at = (const char *)range->packed->texts.at;

	for (uint32_t i = 0; i < count; i++) {
		const struct gathered *row = &range->packed->gathered[i];

		db_del(range->txn, range->pass->table.rows,
		    (struct text){ at, row->key_bytes });
		at += row->key_bytes + row->value_bytes;
	}
}

static size_t
bytes_of(const struct packed *packed, uint32_t i)
{
	return packed->rest[i].bytes + packed->value_of[i].bytes;
}

/* Put the first `count` rows as blocks of about the same size. */
static void
put_blocks(struct range *range, uint32_t count)
{
	struct packed *packed = range->packed;
	size_t all = 0, bytes = 0, blocks;
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++)
		all += bytes_of(packed, i);
	blocks = all / PACKED_BYTES + 1;
	for (uint32_t i = 0; i < count; i++) {
		bytes += bytes_of(packed, i);
		if (bytes < all / blocks && i + 1 < count &&
		    i + 1 - first < BLOCK_ROWS)
			continue;
		packed_put_block(packed, range->txn, range->pass->table,
		    range->pass->front, packed->rest + first,
		    packed->value_of + first, i + 1 - first);
		first = i + 1;
		bytes = 0;
	}
}

/* In a store where a key is in both tables, the single row is the later one. */
static uint32_t
drop_repeated(struct packed *packed, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (kept > 0 &&
		    text_equal(packed->rest[kept - 1], packed->rest[i]))
			continue;
		packed->rest[kept] = packed->rest[i];
		packed->value_of[kept++] = packed->value_of[i];
	}
	return kept;
}

/* Merge the collected rows with those of the block, from the end; of equal keys
 * the collected row comes first. */
static uint32_t
merge(struct packed *packed)
{
	const struct block *block = packed->block;
	uint32_t rows = packed->count, old = block->count, to = rows + old;

	while (to > 0) {
		bool is_row = old == 0 ||
			      (rows > 0 && text_compare(packed->rest[rows - 1],
					       block->rest[old - 1]) > 0);

		to--;
		packed->rest[to] =
		    is_row ? packed->rest[rows - 1] : block->rest[old - 1];
		packed->value_of[to] =
		    is_row ? packed->value_of[rows - 1] : block->value[old - 1];
		rows -= is_row;
		old -= !is_row;
	}
	return drop_repeated(packed, packed->count + block->count);
}

static void
pack_into_block(struct range *range)
{
	struct packed *packed = range->packed;
	struct packed_pass *pass = range->pass;
	uint32_t count = packed->count;

	if (!range->is_readable || count == 0 ||
	    !packed_read_block(packed, range->txn, pass->table, range->bytes) ||
	    (!pass->all && count < packed->block->count / MERGE_SHARE))
		return;
	point(packed, range->pass->table);
	db_del(range->txn, pass->table.blocks, packed_block_key(packed));
	put_blocks(range, merge(packed));
	delete_rows(range, count);
}

/* How many of the collected rows, which are behind the last block, become
 * blocks now; the others wait for more. */
static uint32_t
count_full(const struct range *range)
{
	const struct packed *packed = range->packed;
	size_t bytes = 0;
	uint32_t full = 0, first = 0;

	if (range->pass->all && (!range->is_end || packed->count >= TAIL_ROWS))
		return packed->count;
	for (uint32_t i = 0; i < packed->count; i++) {
		bytes += bytes_of(packed, i);
		if (bytes < PACKED_BYTES && i + 1 - first < BLOCK_ROWS)
			continue;
		bytes = 0;
		full = first = i + 1;
	}
	return full;
}

static void
pack_tail(struct range *range)
{
	struct packed *packed = range->packed;
	uint32_t full;

	point(packed, range->pass->table);
	full = count_full(range);
	if (full == 0)
		return;
	put_blocks(range, full);
	delete_rows(range, full);
	/* Those that wait go with what follows. */
	if (full < packed->count && !range->is_end)
		set_from(range->pass, packed->rest[full]);
}

bool
packed_pack(struct packed *packed, struct db_txn *txn, struct packed_pass *pass)
{
	struct range range = { .packed = packed, .txn = txn, .pass = pass };

	while (range.seen < PASS_ROWS && !range.is_end && !db_failed(txn)) {
		gather(&range);
		if (range.has_block)
			pack_into_block(&range);
		else
			pack_tail(&range);
	}
	return !range.is_end && !db_failed(txn);
}
