/*
 * rollup_list - the rollups of one hour, node and metric group.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_list.h"

#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"

bool
rollup_list_find(struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *block, struct text *value)
{
	struct db_cursor *cursor = db_cursor_open(txn, tables_rollup(rollup));
	struct key_row_block row_key = *block;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key;
	bool found;

	row_key.slice = rollup;
	row_key.first_ns = INT64_MIN;
	row_key.row = 0;
	found =
	    db_seek(cursor, hour_cursor_key(bytes, &row_key), &key, value) &&
	    key.bytes == sizeof(bytes) &&
	    memcmp(key.at, bytes, ROLLUP_PREFIX_BYTES) == 0;
	db_cursor_close(&cursor);
	return found;
}

bool
rollup_list_any(struct db_txn *txn, const struct key_row_block *block)
{
	struct text value;

	for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS; rollup++)
		if (rollup_list_find(txn, rollup, block, &value))
			return true;
	return false;
}
