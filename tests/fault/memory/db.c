/*
 * db - see aggregator/db/db.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/memory/db.h"

#include <stdlib.h>
#include <string.h>

enum { TABLES = 4, ROWS = 4096, KEY_BYTES = 64, ARENA_BYTES = 16 << 20 };

/* A value is never written over: what is committed stays where it is. */
struct row {
	uint32_t key_bytes;
	unsigned char key[KEY_BYTES];
	struct text now, was; /* NULL: not there; was: as committed */
};

struct db {
	struct row row[TABLES][ROWS];
	int rows[TABLES];
	unsigned char *arena;
	size_t used;
};

struct db_txn {
	struct db *db;
	bool failed;
	struct row *changed[ROWS];
	int changes;
};

struct db_cursor {
	struct db_txn *txn;
	unsigned table;
	struct row *row;
};

/* One store, which outlives its handles. */
static struct db disk;

void
memory_db_reset(void)
{
	memset(disk.rows, 0, sizeof(disk.rows));
	disk.used = 0;
	if (disk.arena == NULL && (disk.arena = malloc(ARENA_BYTES)) == NULL)
		abort();
}

int
db_open(struct db **db, const char *path, const struct db_options *options,
    struct err *err)
{
	(void)path;
	(void)options;
	(void)err;
	*db = &disk;
	return 0;
}

void
db_close(struct db **db)
{
	*db = NULL;
}

/* ---- transactions ---- */

int
db_begin(struct db *db, bool write, struct db_txn **txn, struct err *err)
{
	(void)write;
	(void)err;
	*txn = malloc(sizeof(**txn));
	if (*txn == NULL)
		abort();
	(*txn)->db = db;
	(*txn)->failed = false;
	(*txn)->changes = 0;
	return 0;
}

enum db_result
db_commit(struct db_txn **txn, struct err *err)
{
	struct db_txn *t = *txn;

	if (t->failed) {
		db_abort(txn);
		err_set(err, "the store in memory is too small");
		return DB_BROKEN;
	}
	for (int i = 0; i < t->changes; i++)
		t->changed[i]->was = t->changed[i]->now;
	free(t);
	*txn = NULL;
	return DB_OK;
}

void
db_abort(struct db_txn **txn)
{
	struct db_txn *t = *txn;

	if (t == NULL)
		return;
	for (int i = 0; i < t->changes; i++)
		t->changed[i]->now = t->changed[i]->was;
	free(t);
	*txn = NULL;
}

bool
db_failed(const struct db_txn *txn)
{
	return txn->failed;
}

/* ---- rows ---- */

static struct row *
find(struct db_txn *txn, unsigned table, struct text key)
{
	struct db *db = txn->db;

	for (int i = db->rows[table] - 1; i >= 0; i--) {
		struct row *row = &db->row[table][i];

		if (row->key_bytes == key.bytes &&
		    memcmp(row->key, key.at, key.bytes) == 0)
			return row;
	}
	return NULL;
}

bool
db_get(struct db_txn *txn, unsigned table, struct text key, struct text *value)
{
	const struct row *row = find(txn, table, key);

	if (row == NULL || row->now.at == NULL)
		return false;
	*value = row->now;
	return true;
}

bool
db_was_damaged(const struct db_txn *txn)
{
	(void)txn;
	return false;
}

static void
change(struct db_txn *txn, struct row *row, struct text value)
{
	if (txn->changes == ROWS) {
		txn->failed = true;
		return;
	}
	txn->changed[txn->changes++] = row;
	row->now = value;
}

unsigned char *
db_reserve(struct db_txn *txn, unsigned table, struct text key, uint32_t bytes,
    bool append)
{
	struct db *db = txn->db;
	struct row *row = append ? NULL : find(txn, table, key);
	unsigned char *at = db->arena + db->used;

	if (key.bytes > KEY_BYTES || bytes > ARENA_BYTES - db->used ||
	    (row == NULL && db->rows[table] == ROWS)) {
		txn->failed = true;
		return NULL;
	}
	db->used += (bytes + 7U) & ~7U;
	if (row == NULL) {
		row = &db->row[table][db->rows[table]++];
		row->key_bytes = key.bytes;
		memcpy(row->key, key.at, key.bytes);
		row->now = row->was = (struct text){ NULL, 0 };
	}
	change(txn, row, (struct text){ (const char *)at, bytes });
	return at;
}

void
db_complete(
    struct db_txn *txn, struct text key, unsigned char *value, uint32_t bytes)
{
	(void)txn;
	(void)key;
	(void)value;
	(void)bytes;
}

void
db_put(struct db_txn *txn, unsigned table, struct text key, struct text value)
{
	unsigned char *at = db_reserve(txn, table, key, value.bytes, false);

	if (at != NULL)
		memcpy(at, value.at, value.bytes);
}

bool
db_del(struct db_txn *txn, unsigned table, struct text key)
{
	struct row *row = find(txn, table, key);

	if (row == NULL || row->now.at == NULL)
		return false;
	change(txn, row, (struct text){ NULL, 0 });
	return true;
}

struct text
db_word_key(unsigned char to[static DB_KEY_BYTES_MAX], const char *word,
    struct text rest)
{
	uint32_t bytes = (uint32_t)strlen(word);

	memcpy(to, word, bytes);
	memcpy(to + bytes, rest.at, rest.bytes);
	return (struct text){ (const char *)to, bytes + rest.bytes };
}

/* ---- cursors ---- */

struct db_cursor *
db_cursor_open(struct db_txn *txn, unsigned table)
{
	struct db_cursor *cursor = malloc(sizeof(*cursor));

	if (cursor == NULL)
		abort();
	*cursor = (struct db_cursor){ txn, table, NULL };
	return cursor;
}

void
db_cursor_close(struct db_cursor **cursor)
{
	free(*cursor);
	*cursor = NULL;
}

static int
order(const struct row *row, struct text key)
{
	uint32_t bytes =
	    key.bytes < row->key_bytes ? key.bytes : row->key_bytes;
	int differs = memcmp(row->key, key.at, bytes);

	if (differs != 0)
		return differs;
	return row->key_bytes < key.bytes   ? -1
	       : row->key_bytes > key.bytes ? 1
					    : 0;
}

/* The first row behind `key`, or at it; `backwards`: the last of all. */
static bool
seek(struct db_cursor *cursor, struct text key, bool behind, bool backwards)
{
	struct db *db = cursor->txn->db;
	struct row *best = NULL;

	for (int i = 0; i < db->rows[cursor->table]; i++) {
		struct row *row = &db->row[cursor->table][i];
		struct text at = { (const char *)row->key, row->key_bytes };

		if (row->now.at == NULL)
			continue;
		if (!backwards && key.bytes > 0 && order(row, key) < behind)
			continue;
		if (best == NULL || (order(best, at) > 0) != backwards)
			best = row;
	}
	cursor->row = best;
	return best != NULL;
}

static bool
show(struct db_cursor *cursor, bool found, struct text *key, struct text *value)
{
	if (!found)
		return false;
	*key = (struct text){ (const char *)cursor->row->key,
		cursor->row->key_bytes };
	if (value != NULL)
		*value = cursor->row->now;
	return true;
}

bool
db_seek(struct db_cursor *cursor, struct text key, struct text *found,
    struct text *value)
{
	return show(cursor, seek(cursor, key, false, false), found, value);
}

bool
db_next(struct db_cursor *cursor, struct text *found, struct text *value)
{
	struct text key;

	if (cursor->row == NULL)
		return false; /* it was at the end */
	key = (struct text){ (const char *)cursor->row->key,
		cursor->row->key_bytes };
	return show(cursor, seek(cursor, key, true, false), found, value);
}

bool
db_last(struct db_cursor *cursor, struct text *found, struct text *value)
{
	return show(cursor, seek(cursor, (struct text){ NULL, 0 }, false, true),
	    found, value);
}

bool
db_seek_key(struct db_cursor *cursor, struct text key, struct text *found)
{
	return show(cursor, seek(cursor, key, false, false), found, NULL);
}

bool
db_last_key(struct db_cursor *cursor, struct text *found)
{
	return db_last(cursor, found, &(struct text){ NULL, 0 });
}
