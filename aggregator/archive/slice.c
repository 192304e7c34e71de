/*
 * slice - the records of a slice of an hour, one by one.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/slice.h"

#include <string.h>

#include "aggregator/tables/tables.h"

static int
each_record(struct slice_reader *reader, const struct key_row_block *of,
    struct text value, struct err *err)
{
	struct row_block_reader rows;
	struct row_block_item item;

	if (!row_block_open(&rows, value, of->first_ns)) {
		reader->damaged++;
		return 0;
	}
	while (row_block_next(&rows, &item)) {
		int rc = reader->call(reader->arg, of, &item, err);

		if (rc != 0)
			return rc;
	}
	reader->damaged += rows.bytes.bad;
	return 0;
}

int
slice_row_blocks(struct slice_reader *reader, struct text front,
    uint32_t first_row, uint32_t last_row, struct err *err)
{
	struct db_cursor *cursor =
	    db_cursor_open(reader->txn, TABLES_ROW_BLOCKS);
	struct text key, value;
	int rc = 0;

	for (bool more = db_seek(cursor, front, &key, &value);
	     more && rc == 0 && key.bytes >= front.bytes &&
	     memcmp(key.at, front.at, front.bytes) == 0;
	     more = db_next(cursor, &key, &value)) {
		struct key_row_block of;

		if (!key_get_row_block(key, &of))
			reader->damaged++;
		else if (of.row >= first_row && of.row <= last_row)
			rc = each_record(reader, &of, value, err);
	}
	db_cursor_close(&cursor);
	return rc;
}

static int
each_compacted(struct slice_reader *reader, struct compacted_cursor *cursor,
    struct err *err)
{
	const struct key_row_block of = cursor->row_key;
	struct row_block_item item;
	int64_t first_ns;

	if (!compacted_cursor_take(cursor, INT64_MIN, &first_ns))
		return 0;
	while (compacted_cursor_next(cursor, &item)) {
		int rc = reader->call(reader->arg, &of, &item, err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int
slice_compacted(struct slice_reader *reader, struct text front, struct err *err)
{
	unsigned char room[KEY_ROW_BLOCK_BYTES] = { 0 };
	const struct text key = { (const char *)room, sizeof(room) };
	struct compacted_cursor *cursor;
	struct key_row_block of;
	int rc = 0;

	if (front.bytes != SLICE_FRONT_BYTES) {
		reader->damaged++;
		return 0;
	}
	memcpy(room, front.at, front.bytes);
	if (!key_get_row_block(key, &of)) {
		reader->damaged++;
		return 0;
	}
	cursor = compacted_cursor_open(reader->txn, reader->cache, &of);
	compacted_cursor_seek(cursor, 0, 0);
	while (cursor->more && rc == 0) {
		uint32_t node = cursor->row_key.node,
			 track = cursor->row_key.track;

		rc = each_compacted(reader, cursor, err);
		compacted_cursor_pass(cursor, node, track);
	}
	compacted_cursor_close(&cursor);
	return rc;
}
