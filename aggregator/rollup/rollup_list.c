/*
 * rollup_list - the rows of a rollup, found by node and metric group.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_list.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

void
rollup_list_forget(struct rollup_list *list)
{
	for (unsigned i = 0; i < ROLLUP_LIST_ROWS; i++)
		if (list->row[i] != NULL)
			list->row[i]->is_open = false;
}

void
rollup_list_clear(struct rollup_list *list)
{
	for (unsigned i = 0; i < ROLLUP_LIST_ROWS; i++) {
		if (list->row[i] != NULL)
			rollup_row_clear(&list->row[i]->row);
		free(list->row[i]);
		list->row[i] = NULL;
	}
}

struct key_row_block
rollup_list_key(
    enum rollup_step rollup, const struct key_row_block *node, uint32_t part)
{
	struct key_row_block row_key = *node;

	row_key.slice = rollup;
	row_key.node = rollup_block(node->node);
	row_key.first_ns = (int64_t)node->hour * KEY_HOUR_NS;
	row_key.row = part;
	return row_key;
}

/* The rows of a node have different places. */
static struct rollup_list_row *
place_of(struct rollup_list *list, uint32_t part)
{
	struct rollup_list_row **row = &list->row[part % ROLLUP_LIST_ROWS];

	if (*row == NULL)
		*row = memory_zero(1, sizeof(**row));
	return *row;
}

static struct rollup_row *
open_row(struct rollup_list *list, const struct key_row_block *row_key,
    struct text value)
{
	struct rollup_list_row *row = place_of(list, row_key->row);

	key_put_row_block(row->key, row_key);
	row->is_open = rollup_open(&row->row, value) &&
		       rollup_block(row->row.node[0].node) == row_key->node;
	return row->is_open ? &row->row : NULL;
}

/* The row if it is unpacked already. */
static struct rollup_row *
known_row(struct rollup_list *list, const struct key_row_block *row_key)
{
	struct rollup_list_row *row = place_of(list, row_key->row);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	key_put_row_block(bytes, row_key);
	return row->is_open && memcmp(row->key, bytes, sizeof(bytes)) == 0
		   ? &row->row
		   : NULL;
}

struct rollup_row *
rollup_list_find(struct rollup_list *list, struct db_txn *txn,
    enum rollup_step rollup, const struct key_row_block *node, uint32_t part)
{
	struct key_row_block row_key = rollup_list_key(rollup, node, part);
	struct rollup_row *row = known_row(list, &row_key);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct db_cursor *cursor;
	struct text key, value;

	if (row != NULL)
		return row;
	cursor = db_cursor_open(txn, tables_rollup(rollup));
	if (db_seek(cursor, hour_cursor_key(bytes, &row_key), &key, &value) &&
	    key.bytes == sizeof(bytes) &&
	    memcmp(key.at, bytes, sizeof(bytes)) == 0)
		row = open_row(list, &row_key, value);
	db_cursor_close(&cursor);
	return row;
}

bool
rollup_list_has(struct rollup_list *list, struct db_txn *txn,
    enum rollup_step rollup, const struct key_row_block *node,
    struct rollup_columns *columns)
{
	struct rollup_row *row = rollup_list_find(list, txn, rollup, node, 0);
	uint32_t k =
	    row != NULL ? rollup_find_node(row, node->node) : UINT32_MAX;

	if (k == UINT32_MAX)
		return false;
	*columns = row->node[k].columns;
	return true;
}

/* The first node of the row at or after this one. */
static bool
take_node(const struct rollup_row *row, struct key_row_block *node,
    struct rollup_columns *columns)
{
	for (uint32_t k = 0; row != NULL && k < row->nodes; k++)
		if (row->node[k].node >= node->node) {
			node->node = row->node[k].node;
			*columns = row->node[k].columns;
			return true;
		}
	return false;
}

/* The first row at or behind the block of the node, if it is of this hour. */
static bool
seek_row(struct db_cursor *cursor, enum rollup_step rollup,
    const struct key_row_block *node, struct key_row_block *found,
    struct text *value)
{
	struct key_row_block to = rollup_list_key(rollup, node, 0);
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key;

	return db_seek(cursor, hour_cursor_key(bytes, &to), &key, value) &&
	       key_get_row_block(key, found) &&
	       found->partition == to.partition && found->kind == to.kind &&
	       found->hour == to.hour && found->slice == to.slice;
}

bool
rollup_list_next(struct rollup_list *list, struct db_txn *txn,
    enum rollup_step rollup, struct key_row_block *node,
    struct rollup_columns *columns)
{
	struct key_row_block row_key = rollup_list_key(rollup, node, 0);
	struct db_cursor *cursor;
	struct text value;
	bool found = false;

	if (take_node(known_row(list, &row_key), node, columns))
		return true;
	cursor = db_cursor_open(txn, tables_rollup(rollup));
	while (!found && seek_row(cursor, rollup, node, &row_key, &value)) {
		if (row_key.track != node->track || row_key.node > node->node) {
			node->track = row_key.track;
			node->node = row_key.node;
		}
		found =
		    row_key.row == 0 &&
		    take_node(open_row(list, &row_key, value), node, columns);
		if (found)
			break;
		/* Behind all rows of this block. */
		node->node = row_key.node + (ROLLUP_NODES - 1);
		if (!key_next_series(node))
			break;
	}
	db_cursor_close(&cursor);
	return found;
}
