/*
 * repair - have hours that the archive lacks sent again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/repair.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/marks/marks.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

void
repair_add(struct repair *repair, const struct key_row_block *hour)
{
	*MEMORY_ADD(repair->hour, repair->room, repair->hours) = *hour;
}

void
repair_clear(struct repair *repair)
{
	free(repair->hour);
	*repair = (struct repair){ .hours = 0 };
}

/* Mark the slices that an hour has in a table.  A mark of chunks says that the
 * archive lacks all of a slice; one of row blocks would not do, because rows
 * before the last commit count as sent. */
static void
mark_slices(
    struct db_txn *txn, unsigned table, const struct key_row_block *hour)
{
	struct key_row_block from = { .partition = hour->partition,
		.kind = hour->kind,
		.hour = hour->hour,
		.first_ns = INT64_MIN };
	unsigned char sought[KEY_ROW_BLOCK_BYTES], slice[MARKS_SLICE_BYTES];
	const struct text key = { (const char *)sought, sizeof(sought) };
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct text found;

	key_put_row_block(sought, &from);
	memset(
	    sought + MARKS_SLICE_BYTES, 0, sizeof(sought) - MARKS_SLICE_BYTES);
	while (db_seek_key(cursor, key, &found) &&
	       found.bytes >= MARKS_SLICE_BYTES &&
	       memcmp(found.at, sought, KEY_HOUR_BYTES) == 0) {
		memcpy(slice, found.at, sizeof(slice));
		memcpy(sought, slice, sizeof(slice));
		/* On to the next slice. */
		memset(sought + MARKS_SLICE_BYTES, 0xff,
		    sizeof(sought) - MARKS_SLICE_BYTES);
		db_mark(txn, TABLES_CHUNKS,
		    (struct text){ (const char *)slice, sizeof(slice) }, 0);
	}
	db_cursor_close(&cursor);
}

/* A pass that has records of a partition has its counts, too. */
static void
mark_counts(struct db_txn *txn, uint32_t partition)
{
	unsigned char key[DB_KEY_BYTES_MAX];

	db_mark(txn, TABLES_META, tables_counts_key(key, partition), 0);
}

int
repair_mark(struct repair *repair, struct db *db, struct err *err)
{
	for (uint32_t i = 0; i < repair->hours; i++) {
		struct db_txn *txn;

		if (db_begin(db, true, &txn, err) != 0)
			return -1;
		if (!marks_are_kept(txn)) {
			db_abort(&txn);
			return err_set(err,
			    "the store has no archive; start the aggregator "
			    "with --archive, which copies all of it");
		}
		mark_slices(txn, TABLES_ROW_BLOCKS, &repair->hour[i]);
		mark_slices(txn, TABLES_CHUNKS, &repair->hour[i]);
		mark_counts(txn, repair->hour[i].partition);
		if (db_commit(&txn, err) != DB_OK)
			return -1;
	}
	return 0;
}
