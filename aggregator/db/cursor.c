/*
 * db_cursor - iterate over the rows of a table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/txn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

struct db_cursor {
	struct db_txn *txn;
	MDB_cursor *mdb;
	unsigned table;
	/* Up to this key, and to the end of the table, all pages are checked.
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
	if (txn->rc == 0) {
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

/* The first good leaf from the end of the way on; false: there is none.  The
 * pages in between are counted as damaged. */
static bool
find_leaf(struct db_cursor *cursor, struct snapshot_path *path,
    enum snapshot_way way, enum snapshot_way (*onward)(struct snapshot_path *))
{
	while (way == WAY_DAMAGED || way == WAY_DOUBTFUL) {
		if (cursor->txn->write)
			db_txn_refuse(cursor->txn, cursor->table, path->bad);
		else
			db_txn_damage(cursor->txn, cursor->table, path->bad);
		if (way == WAY_DOUBTFUL)
			break;
		way = onward(path);
	}
	return way != WAY_NONE && cursor->txn->rc == 0;
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

/* Send LMDB around damaged pages, to a key of the leaf at the end of the way.
 * False: from the root it would go elsewhere, and perhaps in a circle. */
static bool
go_to(const struct snapshot_path *path, struct text key, MDB_val *k,
    MDB_cursor_op *op)
{
	struct snapshot_path again = *path;
	enum snapshot_way way = snapshot_path_seek(&again, key);

	*k = db_val(key);
	*op = MDB_SET_RANGE;
	return (way == WAY_LEAF || way == WAY_DOUBTFUL) &&
	       snapshot_path_leaf(&again) == snapshot_path_leaf(path);
}

/* To the leaf of `key`, and if the next row is not in it, on to the next leaf.
 * Where a page is left out, `op` and `k` become the way around it. */
static bool
check_forward(
    struct db_cursor *cursor, MDB_val *k, MDB_cursor_op *op, bool is_next)
{
	struct text key = { k->mv_data, (uint32_t)k->mv_size };
	struct snapshot_path path;
	enum snapshot_way way;
	bool found, is_around;

	db_txn_path(cursor->txn, cursor->table, &path);
	way = snapshot_path_seek(&path, key);
	is_around = way == WAY_DAMAGED;
	found = find_leaf(cursor, &path, way, snapshot_path_next);
	if (found && !is_around && !is_next && !cursor->txn->write)
		db_txn_check_before(cursor->txn, cursor->table, &path);
	if (found && !is_around && key.bytes > 0) {
		int rc = page_compare(key, last_key(&path));

		if (rc > 0 || (rc == 0 && is_next)) {
			cursor->checked = last_key(&path);
			way = snapshot_path_next(&path);
			is_around = way == WAY_DAMAGED;
			found =
			    find_leaf(cursor, &path, way, snapshot_path_next);
		}
	}
	if (cursor->txn->rc != 0)
		return false;
	/* LMDB must not go to the damaged pages of the end. */
	cursor->is_all_checked = !found && !is_around;
	if (found)
		cursor->checked = last_key(&path);
	if (!is_around)
		return true;
	return found && go_to(&path, first_key(&path), k, op);
}

static bool
check_backward(
    struct db_cursor *cursor, MDB_val *k, MDB_cursor_op *op, bool is_last)
{
	struct text key = { k->mv_data, (uint32_t)k->mv_size };
	struct snapshot_path path;
	enum snapshot_way way;
	bool is_around;

	db_txn_path(cursor->txn, cursor->table, &path);
	way = is_last ? snapshot_path_last(&path)
		      : snapshot_path_seek(&path, key);
	if (!is_last && (way == WAY_LEAF || way == WAY_DOUBTFUL) &&
	    page_compare(key, first_key(&path)) <= 0)
		way = snapshot_path_previous(&path);
	is_around = way == WAY_DAMAGED;
	if (!find_leaf(cursor, &path, way, snapshot_path_previous))
		return !is_around && cursor->txn->rc == 0;
	return !is_around || go_to(&path, last_key(&path), k, op);
}

/* Check the pages that LMDB will touch; false: there is no further row. */
static bool
check_pages(struct db_cursor *cursor, MDB_val *k, MDB_cursor_op *op)
{
	MDB_val at, value;
	struct text key;

	if (cursor->txn->rc != 0)
		return false;
	switch (*op) {
	case MDB_FIRST: k->mv_size = 0; /* fall through */
	case MDB_SET_RANGE: return check_forward(cursor, k, op, false);
	case MDB_LAST: return check_backward(cursor, k, op, true);
	default: break;
	}
	if (mdb_cursor_get(cursor->mdb, &at, &value, MDB_GET_CURRENT) != 0)
		return true; /* LMDB says what is wrong */
	*k = at;
	if (*op == MDB_PREV)
		return check_backward(cursor, k, op, false);
	key = (struct text){ at.mv_data, (uint32_t)at.mv_size };
	if (cursor->is_all_checked ||
	    (cursor->checked.bytes > 0 &&
		page_compare(key, cursor->checked) < 0))
		return true;
	return check_forward(cursor, k, op, true);
}

/* ---- rows ---- */

/* Is a row before the key that is sought?  Where pages are doubtful, LMDB finds
 * such rows; who seeks on from the last key that was found would never end. */
static bool
is_before(MDB_val found, struct text least)
{
	struct text key = { found.mv_data, (uint32_t)found.mv_size };

	return least.bytes > 0 && page_compare(key, least) < 0;
}

static struct text
least_of(const MDB_val *k, MDB_cursor_op op)
{
	return op == MDB_SET_RANGE
		   ? (struct text){ k->mv_data, (uint32_t)k->mv_size }
		   : (struct text){ NULL, 0 };
}

/* Move, and skip damaged rows in the direction of travel. */
static bool
move(struct db_cursor *cursor, MDB_val *k, MDB_cursor_op first,
    MDB_cursor_op onward, struct text *found, struct text *value)
{
	struct text least = least_of(k, first);
	MDB_cursor_op op = first;
	MDB_val v;
	int rc;

	*value = (struct text){ NULL, 0 };
	cursor->deleted_bytes = 0;
	while (check_pages(cursor, k, &op)) {
		rc = mdb_cursor_get(cursor->mdb, k, &v, op);
		if (rc == MDB_NOTFOUND)
			return false;
		if (rc != 0) {
			db_txn_fail(cursor->txn, rc, "walk");
			return false;
		}
		if (!is_before(*k, least) &&
		    db_txn_check(cursor->txn, cursor->table, *k, v, value)) {
			*found =
			    (struct text){ k->mv_data, (uint32_t)k->mv_size };
			return true;
		}
		op = onward;
	}
	return false;
}

bool
db_seek(struct db_cursor *cursor, struct text key, struct text *found,
    struct text *value)
{
	MDB_val k = db_val(key);

	assert(key.bytes <= DB_KEY_BYTES_MAX);
	return move(cursor, &k, key.bytes > 0 ? MDB_SET_RANGE : MDB_FIRST,
	    MDB_NEXT, found, value);
}

bool
db_next(struct db_cursor *cursor, struct text *found, struct text *value)
{
	unsigned char deleted[DB_KEY_BYTES_MAX];
	MDB_val k = { cursor->deleted_bytes, deleted };

	/* After a deletion the next row is the first one at or after the
	 * deleted key. */
	if (cursor->deleted_bytes > 0) {
		memcpy(deleted, cursor->deleted, cursor->deleted_bytes);
		return move(cursor, &k, MDB_SET_RANGE, MDB_NEXT, found, value);
	}
	return move(cursor, &k, MDB_NEXT, MDB_NEXT, found, value);
}

bool
db_prev(struct db_cursor *cursor, struct text *found, struct text *value)
{
	MDB_val k;

	return move(cursor, &k, MDB_PREV, MDB_PREV, found, value);
}

bool
db_last(struct db_cursor *cursor, struct text *found, struct text *value)
{
	MDB_val k;

	return move(cursor, &k, MDB_LAST, MDB_PREV, found, value);
}

static bool
move_key(
    struct db_cursor *cursor, MDB_val *k, MDB_cursor_op op, struct text *found)
{
	struct text least = least_of(k, op);
	MDB_val v;
	int rc;

	cursor->deleted_bytes = 0;
	do {
		if (!check_pages(cursor, k, &op))
			return false;
		rc = mdb_cursor_get(cursor->mdb, k, &v, op);
		op = MDB_NEXT;
	} while (rc == 0 && is_before(*k, least));
	if (rc != 0 && rc != MDB_NOTFOUND)
		db_txn_fail(cursor->txn, rc, "walk");
	if (rc == 0)
		*found = (struct text){ k->mv_data, (uint32_t)k->mv_size };
	return rc == 0;
}

bool
db_seek_key(struct db_cursor *cursor, struct text key, struct text *found)
{
	MDB_val k = db_val(key);

	assert(key.bytes <= DB_KEY_BYTES_MAX);
	return move_key(
	    cursor, &k, key.bytes > 0 ? MDB_SET_RANGE : MDB_FIRST, found);
}

bool
db_last_key(struct db_cursor *cursor, struct text *found)
{
	MDB_val k;

	return move_key(cursor, &k, MDB_LAST, found);
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
	cursor->deleted_bytes = 0;
	rc = mdb_cursor_put(cursor->mdb, &k, &v, MDB_RESERVE);
	if (rc != 0) {
		db_txn_fail(txn, rc, "put");
		return NULL;
	}
	if (value.bytes > 0)
		memcpy(v.mv_data, value.at, value.bytes);
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
}
