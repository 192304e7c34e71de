/*
 * db_cursor - iterate over the rows of a table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static const struct text nothing = { NULL, 0 };

struct db_cursor {
	struct db_txn *txn;
	unsigned table;
	struct db_walk walk; /* of a reader */
	/* Of a writer. */
	MDB_cursor *mdb;
	/* Up to this key, and to the end of the table, all pages are checked:
	 * a writer goes on only while all pages have the keys that they should.
	 */
	struct text checked;
	bool is_all_checked;
	uint32_t deleted_bytes; /* of the key just deleted; 0: none */
	unsigned char deleted[DB_KEY_BYTES_MAX];
};

struct db_cursor *
db_cursor_open(struct db_txn *txn, unsigned table)
{
	struct db_cursor *cursor = memory_zero(1, sizeof(*cursor));
	int rc;

	cursor->txn = txn;
	cursor->table = table;
	if (txn->db->source != NULL)
		return cursor;
	if (!txn->write) {
		db_walk_begin(&cursor->walk, txn, table);
	} else if (txn->rc == 0) {
		rc = mdb_cursor_open(
		    txn->mdb, db_txn_table(txn, table), &cursor->mdb);
		if (rc != 0)
			db_txn_fail(txn, rc, "cursor");
	}
	return cursor;
}

void
db_cursor_close(struct db_cursor **cursor)
{
	if (*cursor == NULL)
		return;
	if ((*cursor)->mdb != NULL)
		mdb_cursor_close((*cursor)->mdb);
	free(*cursor);
	*cursor = NULL;
}

/* ---- pages, before LMDB goes there ---- */

/* A writer does not go around pages. */
static bool
is_good(struct db_cursor *cursor, const struct snapshot_path *path,
    enum snapshot_way way)
{
	if (way == WAY_DAMAGED || way == WAY_DOUBTFUL)
		db_txn_refuse(cursor->txn, cursor->table, path->bad);
	return cursor->txn->rc == 0;
}

static struct text
first_key(const struct snapshot_path *path)
{
	return page_key(snapshot_path_leaf(path), 0);
}

static struct text
last_key(const struct snapshot_path *path)
{
	const void *leaf = snapshot_path_leaf(path);

	return page_key(leaf, page_count(leaf) - 1);
}

/* The leaf of `key`, and if the next row is not in it, the next leaf. */
static bool
check_forward(struct db_cursor *cursor, struct text key, bool is_next)
{
	struct snapshot_path path;
	enum snapshot_way way;

	db_txn_path(cursor->txn, cursor->table, &path);
	way = snapshot_path_seek(&path, key);
	if (way == WAY_LEAF && key.bytes > 0) {
		int rc = page_compare(key, last_key(&path));

		if (rc > 0 || (rc == 0 && is_next))
			way = snapshot_path_next(&path);
	}
	if (!is_good(cursor, &path, way))
		return false;
	cursor->is_all_checked = way == WAY_NONE;
	if (way == WAY_LEAF)
		cursor->checked = last_key(&path);
	return true;
}

static bool
check_backward(struct db_cursor *cursor, struct text key, bool is_last)
{
	struct snapshot_path path;
	enum snapshot_way way;

	db_txn_path(cursor->txn, cursor->table, &path);
	way = is_last ? snapshot_path_last(&path)
		      : snapshot_path_seek(&path, key);
	if (!is_last && way == WAY_LEAF &&
	    page_compare(key, first_key(&path)) <= 0)
		way = snapshot_path_previous(&path);
	return is_good(cursor, &path, way);
}

/* Check the pages that LMDB will touch.  False: the transaction has failed. */
static bool
check_pages(struct db_cursor *cursor, struct text key, MDB_cursor_op op)
{
	MDB_val at, value;

	if (op == MDB_FIRST || op == MDB_SET_RANGE)
		return check_forward(cursor, key, false);
	if (op == MDB_LAST)
		return check_backward(cursor, key, true);
	if (mdb_cursor_get(cursor->mdb, &at, &value, MDB_GET_CURRENT) != 0)
		return true; /* LMDB says what is wrong */
	key = (struct text){ at.mv_data, (uint32_t)at.mv_size };
	if (op == MDB_PREV)
		return check_backward(cursor, key, false);
	if (cursor->is_all_checked ||
	    (cursor->checked.bytes > 0 &&
		page_compare(key, cursor->checked) < 0))
		return true;
	return check_forward(cursor, key, true);
}

/* ---- rows ---- */

static bool
read_row(struct db_cursor *cursor, struct text key, MDB_cursor_op op,
    struct db_walk_row *row)
{
	switch (op) {
	case MDB_NEXT: return db_walk_next(&cursor->walk, row);
	case MDB_PREV: return db_walk_previous(&cursor->walk, row);
	case MDB_LAST: return db_walk_last(&cursor->walk, row);
	default: return db_walk_seek(&cursor->walk, key, row);
	}
}

/* Only a writer asks LMDB, which knows what the transaction has changed. */
static bool
step(struct db_cursor *cursor, struct text key, MDB_cursor_op op,
    struct db_walk_row *row)
{
	MDB_val k = db_val(key);
	int rc;

	if (cursor->txn->rc != 0)
		return false;
	if (!cursor->txn->write)
		return read_row(cursor, key, op, row);
	if (!check_pages(cursor, key, op))
		return false;
	rc = mdb_cursor_get(cursor->mdb, &k, &row->stored, op);
	if (rc != 0 && rc != MDB_NOTFOUND)
		db_txn_fail(cursor->txn, rc, "walk");
	row->key = (struct text){ k.mv_data, (uint32_t)k.mv_size };
	return rc == 0;
}

/* Is a row before the key that is sought?  On doubtful pages there are such
 * rows; who seeks on from the last key that was found would never end. */
static bool
is_before(const struct db_walk_row *row, struct text sought)
{
	return sought.bytes > 0 && page_compare(row->key, sought) < 0;
}

static MDB_cursor_op
op_of_seek(struct text key)
{
	assert(key.bytes <= DB_KEY_BYTES_MAX);
	return key.bytes > 0 ? MDB_SET_RANGE : MDB_FIRST;
}

/* A cursor of a source notes the key of its row as one that was deleted is. */
static bool
ask(struct db_cursor *cursor, struct text sought, MDB_cursor_op op,
    struct text *found, struct text *value)
{
	struct text at = { (const char *)cursor->deleted,
		cursor->deleted_bytes };
	enum db_source_place place = op == MDB_NEXT   ? DB_SOURCE_AFTER
				     : op == MDB_PREV ? DB_SOURCE_BEFORE
				     : op == MDB_LAST ? DB_SOURCE_LAST
						      : DB_SOURCE_FROM;

	if (op == MDB_FIRST || op == MDB_SET_RANGE)
		at = sought;
	if (at.bytes == 0 && op == MDB_NEXT)
		place = DB_SOURCE_FROM;
	if (at.bytes == 0 && op == MDB_PREV)
		place = DB_SOURCE_LAST;
	*value = (struct text){ NULL, 0 };
	if (!db_txn_ask(cursor->txn, cursor->table, place, at, found, value))
		return false;
	memcpy(cursor->deleted, found->at, found->bytes);
	cursor->deleted_bytes = found->bytes;
	return true;
}

/* Move, and skip damaged rows in the direction of travel.  `sought`: empty
 * unless this is a seek. */
static bool
move(struct db_cursor *cursor, struct text sought, MDB_cursor_op first,
    MDB_cursor_op onward, struct text *found, struct text *value)
{
	MDB_cursor_op op = first;
	struct db_walk_row row;

	if (cursor->txn->db->source != NULL)
		return ask(cursor, sought, first, found, value);
	*value = (struct text){ NULL, 0 };
	cursor->deleted_bytes = 0;
	for (; step(cursor, sought, op, &row); op = onward) {
		if (is_before(&row, sought) ||
		    !db_txn_check(cursor->txn, cursor->table, db_val(row.key),
			row.stored, value))
			continue;
		*found = row.key;
		return true;
	}
	return false;
}

bool
db_seek(struct db_cursor *cursor, struct text key, struct text *found,
    struct text *value)
{
	return move(cursor, key, op_of_seek(key), MDB_NEXT, found, value);
}

bool
db_next(struct db_cursor *cursor, struct text *found, struct text *value)
{
	unsigned char deleted[DB_KEY_BYTES_MAX];
	struct text sought = { (const char *)deleted, cursor->deleted_bytes };

	if (cursor->txn->db->source != NULL)
		return ask(cursor, nothing, MDB_NEXT, found, value);
	/* After a deletion the next row is the first one at or after the
	 * deleted key. */
	memcpy(deleted, cursor->deleted, cursor->deleted_bytes);
	return move(cursor, sought, sought.bytes > 0 ? MDB_SET_RANGE : MDB_NEXT,
	    MDB_NEXT, found, value);
}

bool
db_prev(struct db_cursor *cursor, struct text *found, struct text *value)
{
	return move(cursor, nothing, MDB_PREV, MDB_PREV, found, value);
}

bool
db_last(struct db_cursor *cursor, struct text *found, struct text *value)
{
	return move(cursor, nothing, MDB_LAST, MDB_PREV, found, value);
}

static bool
move_key(struct db_cursor *cursor, struct text sought, MDB_cursor_op op,
    struct text *found)
{
	struct db_walk_row row;
	struct text value;

	if (cursor->txn->db->source != NULL)
		return ask(cursor, sought, op, found, &value);
	cursor->deleted_bytes = 0;
	do {
		if (!step(cursor, sought, op, &row))
			return false;
		op = MDB_NEXT;
	} while (is_before(&row, sought));
	*found = row.key;
	return true;
}

bool
db_seek_key(struct db_cursor *cursor, struct text key, struct text *found)
{
	return move_key(cursor, key, op_of_seek(key), found);
}

bool
db_last_key(struct db_cursor *cursor, struct text *found)
{
	return move_key(cursor, nothing, MDB_LAST, found);
}

const char *
db_cursor_put(struct db_cursor *cursor, struct text key, struct text value)
{
	struct db_txn *txn = cursor->txn;
	MDB_val k = db_key(key);
	MDB_val v = { (size_t)value.bytes + CRC_BYTES, NULL };
	int rc;

	if (!db_txn_prepare(txn, cursor->table, key, CHANGE_PUT))
		return NULL;
	db_txn_mark(txn, cursor->table, key, CHANGE_PUT);
	db_txn_make_room(txn, cursor->table, key, v.mv_size);
	if (txn->rc != 0)
		return NULL;
	cursor->deleted_bytes = 0;
	rc = mdb_cursor_put(cursor->mdb, &k, &v, MDB_RESERVE);
	if (rc != 0) {
		db_txn_fail(txn, rc, "put");
		return NULL;
	}
	if (value.bytes > 0)
		memcpy(v.mv_data, value.at, value.bytes);
	txn->reserved = cursor->table;
	db_complete(txn, key, v.mv_data, value.bytes);
	return v.mv_data;
}

void
db_cursor_del(struct db_cursor *cursor)
{
	MDB_val k, v;
	int rc;

	if (cursor->txn->rc != 0)
		return;
	rc = mdb_cursor_get(cursor->mdb, &k, &v, MDB_GET_CURRENT);
	if (rc == 0) {
		cursor->deleted_bytes = (uint32_t)k.mv_size;
		memcpy(cursor->deleted, k.mv_data, k.mv_size);
		if (!db_txn_prepare(cursor->txn, cursor->table,
			(struct text){ (const char *)cursor->deleted,
			    cursor->deleted_bytes },
			CHANGE_DELETE))
			return;
		rc = mdb_cursor_del(cursor->mdb, 0);
	}
	if (rc != 0)
		db_txn_fail(cursor->txn, rc, "delete");
	else
		db_txn_mark(cursor->txn, cursor->table,
		    (struct text){
			(const char *)cursor->deleted, cursor->deleted_bytes },
		    CHANGE_DELETE);
}
