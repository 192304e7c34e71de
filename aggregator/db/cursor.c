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
	uint32_t deleted_bytes; /* of the key just deleted; 0: none */
	unsigned char deleted[DB_KEY_BYTES_MAX];
};

struct db_cursor *
db_cursor_open(struct db_txn *txn, unsigned table)
{
	struct db_cursor *cursor = memory_zero(1, sizeof(*cursor));
	int rc;

	cursor->txn = txn;
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

/* Move, and skip damaged rows in the direction of travel. */
static bool
move(struct db_cursor *cursor, MDB_val *k, MDB_cursor_op first,
    MDB_cursor_op onward, struct text *found, struct text *value)
{
	MDB_cursor_op op = first;
	MDB_val v;
	int rc;

	*value = (struct text){ NULL, 0 };
	cursor->deleted_bytes = 0;
	while (cursor->txn->rc == 0) {
		rc = mdb_cursor_get(cursor->mdb, k, &v, op);
		if (rc == MDB_NOTFOUND)
			return false;
		if (rc != 0) {
			db_txn_fail(cursor->txn, rc, "walk");
			return false;
		}
		if (db_txn_check(cursor->txn, *k, v, value)) {
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
	MDB_val v;
	int rc;

	cursor->deleted_bytes = 0;
	if (cursor->txn->rc != 0)
		return false;
	rc = mdb_cursor_get(cursor->mdb, k, &v, op);
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
		rc = mdb_cursor_del(cursor->mdb, 0);
	}
	if (rc != 0)
		db_txn_fail(cursor->txn, rc, "delete");
}
