/*
 * rollup_list - which rollups there are of one hour, node and set.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_list.h"

#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"

bool
rollup_list_find(struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *series_block, struct text *value)
{
	struct db_cursor *cursor = db_cursor_open(txn, tables_rollup(rollup));
	struct key_row_block head = *series_block;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key;
	bool found;

	head.run = rollup;
	head.first_ns = INT64_MIN;
	head.row = 0;
	found = db_seek(cursor, merge_input_key(bytes, &head), &key, value) &&
		key.bytes == sizeof(bytes) &&
		memcmp(key.at, bytes, ROLLUP_PREFIX_BYTES) == 0;
	db_cursor_close(&cursor);
	return found;
}

bool
rollup_list_any(struct db_txn *txn, const struct key_row_block *series_block)
{
	struct text value;

	for (enum rollup_step rollup = ROLLUP_10S; rollup < ROLLUPS; rollup++)
		if (rollup_list_find(txn, rollup, series_block, &value))
			return true;
	return false;
}

bool
rollup_list_need_samples(
    struct db_txn *txn, const struct key_row_block *series_block)
{
	struct text value;

	for (enum rollup_step rollup = ROLLUP_10S; rollup < ROLLUPS; rollup++)
		if (rollup_list_find(txn, rollup, series_block, &value) &&
		    rollup_is_samples(value))
			return true;
	return false;
}
