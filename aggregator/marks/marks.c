/*
 * marks - reading and removing marks, and holding what they say is lacking.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/marks/marks.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/varint.h"

struct marks {
	struct db_cursor *cursor;
	bool begun;
};

static struct text
text_at(const unsigned char *bytes, uint32_t count)
{
	return (struct text){ (const char *)bytes, count };
}

/* ---- reading ---- */

bool
marks_decode(struct text key, struct text value, struct mark *mark)
{
	uint32_t slice = 1 + MARKS_SLICE_BYTES;

	if (key.bytes < 2 || value.bytes != DB_MARK_BYTES)
		return false;
	*mark = (struct mark){ .table = (unsigned char)key.at[0],
		.key = { key.at + 1, key.bytes - 1 },
		.change = varint_get_u64_be(value.at),
		.first_row = varint_get_u32_be(value.at + 8) };
	if (mark->table == TABLES_ROW_BLOCKS)
		return key.bytes == slice && mark->first_row > 0;
	if (mark->table == TABLES_CHUNKS)
		return key.bytes == slice;
	return mark->table < TABLES_COUNT &&
	       tables_marked(mark->table)->key_bytes != 0;
}

struct marks *
marks_open(struct db_txn *txn)
{
	struct marks *marks = memory_zero(1, sizeof(*marks));

	marks->cursor = db_cursor_open(txn, TABLES_MARKS);
	return marks;
}

bool
marks_next(struct marks *marks, struct mark *mark)
{
	struct text key, value, all = { NULL, 0 };

	for (;;) {
		bool more = marks->begun
				? db_next(marks->cursor, &key, &value)
				: db_seek(marks->cursor, all, &key, &value);

		marks->begun = true;
		if (!more || marks_decode(key, value, mark))
			return more;
	}
}

void
marks_close(struct marks **marks)
{
	if (*marks == NULL)
		return;
	db_cursor_close(&(*marks)->cursor);
	free(*marks);
	*marks = NULL;
}

uint64_t
marks_last_change(struct db_txn *txn)
{
	return tables_fact(txn, FACT_CHANGE);
}

uint32_t
marks_last_row(struct db_txn *txn)
{
	return (uint32_t)tables_fact(txn, FACT_ROW);
}

bool
marks_hold(struct db_txn *txn, unsigned table, const struct key_row_block *hour,
    uint32_t first, uint32_t last)
{
	struct key_row_block from = { .partition = hour->partition,
		.kind = hour->kind,
		.hour = hour->hour,
		.slice = first,
		.first_ns = INT64_MIN };
	unsigned char key[1 + KEY_ROW_BLOCK_BYTES];
	struct text sought = text_at(key, 1 + MARKS_SLICE_BYTES), found;
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_MARKS);
	bool held;

	key[0] = (unsigned char)table;
	key_put_row_block(key + 1, &from);
	/* A damaged mark holds, too. */
	held = db_seek_key(cursor, sought, &found) &&
	       found.bytes >= sought.bytes &&
	       memcmp(found.at, key, 1 + KEY_HOUR_BYTES) == 0 &&
	       varint_get_u32_be(found.at + 1 + KEY_HOUR_BYTES) <= last;
	db_cursor_close(&cursor);
	return held;
}

bool
marks_hold_records(struct db_txn *txn, const struct key_row_block *hour)
{
	return marks_hold(txn, TABLES_ROW_BLOCKS, hour, 0, UINT32_MAX) ||
	       marks_hold(txn, TABLES_CHUNKS, hour, 0, UINT32_MAX);
}

/* ---- removing ---- */

bool
marks_is_of_slice(unsigned table)
{
	return table == TABLES_ROW_BLOCKS || table == TABLES_CHUNKS;
}

/* Remove the mark under the cursor, unless its row has changed since. */
static void
clear_one(struct db_cursor *cursor, const struct marks_clear *clear,
    struct text key, const struct mark *mark)
{
	unsigned char name[DB_KEY_BYTES_MAX], bytes[DB_MARK_BYTES];

	if (mark->change <=
	    (marks_is_of_slice(mark->table) ? clear->change : clear->settled)) {
		db_cursor_del(cursor);
		return;
	}
	if (mark->table != TABLES_ROW_BLOCKS || mark->first_row > clear->row)
		return;
	memcpy(name, key.at, key.bytes);
	varint_put_u64_be(bytes, mark->change);
	varint_put_u32_be(bytes + 8, clear->row + 1);
	db_cursor_put(
	    cursor, text_at(name, key.bytes), text_at(bytes, sizeof(bytes)));
}

/* The next mark that may go.  Those of rows that change, which stay for a
 * while, are not read again and again. */
static bool
next_to_clear(struct db_cursor *cursor, const struct marks_clear *clear,
    struct text *key, struct text *value)
{
	bool more = db_next(cursor, key, value);
	unsigned char table;

	if (!more || clear->settled > 0)
		return more;
	table = (unsigned char)key->at[0];
	if (marks_is_of_slice(table))
		return true;
	if (table > TABLES_CHUNKS)
		return false;
	table = table < TABLES_ROW_BLOCKS ? TABLES_ROW_BLOCKS : TABLES_CHUNKS;
	return db_seek(cursor, text_at(&table, 1), key, value);
}

/* The transactions may be far apart: what they leave is right at any time,
 * because a row with a mark is at worst sent again. */
enum db_result
marks_clear_step(struct db *db, struct marks_clear *clear, uint32_t rows,
    bool *more, struct err *err)
{
	struct marks_clear next = *clear;
	struct db_cursor *cursor;
	enum db_result result;
	struct text key, value;
	struct db_txn *txn;
	struct mark mark;

	if (db_begin(db, true, &txn, err) != 0)
		return DB_BROKEN;
	if (clear->change > tables_fact(txn, FACT_CLEARED))
		tables_put_fact(txn, FACT_CLEARED, clear->change);
	cursor = db_cursor_open(txn, TABLES_MARKS);
	*more = db_seek(
	    cursor, text_at(clear->key, clear->key_bytes), &key, &value);
	for (; *more && rows > 0; rows--) {
		if (marks_decode(key, value, &mark))
			clear_one(cursor, clear, key, &mark);
		*more = next_to_clear(cursor, clear, &key, &value);
	}
	if (*more) {
		next.key_bytes = key.bytes;
		memcpy(next.key, key.at, key.bytes);
	}
	db_cursor_close(&cursor);
	result = db_commit(&txn, err);
	if (result == DB_OK)
		*clear = next;
	return result;
}

uint64_t
marks_drop_partition(struct db_txn *txn, uint32_t partition, uint64_t limit)
{
	static const char names[] = "dlnrst";
	unsigned char front[1 + DB_KEY_BYTES_MAX];
	uint64_t dropped = 0;

	for (unsigned table = 0; table < TABLES_COUNT; table++) {
		front[0] = (unsigned char)table;
		varint_put_u32_be(front + 1, partition);
		if (table == TABLES_META) {
			struct text key =
			    tables_counts_key(front + 1, partition);

			dropped += tables_delete(txn, TABLES_MARKS,
			    text_at(front, 1 + key.bytes), limit - dropped);
		} else if (table != TABLES_NAMES &&
			   table != TABLES_NAME_BLOCKS) {
			dropped += tables_delete(txn, TABLES_MARKS,
			    text_at(front, 5), limit - dropped);
		} else {
			varint_put_u32_be(front + 2, partition);
			for (const char *what = names; *what != '\0'; what++) {
				front[1] = (unsigned char)*what;
				dropped += tables_delete(txn, TABLES_MARKS,
				    text_at(front, 6), limit - dropped);
			}
		}
	}
	return dropped;
}
