/*
 * db_txn - transactions and rows over LMDB.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/txn.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"
#include "proto/os/file_io.h"
#include "proto/os/heartbeat.h"

enum { ROW_ROOM = 64 }; /* of a page, with key and value */

int
db_begin(struct db *db, bool write, struct db_txn **txn, struct err *err)
{
	struct snapshot snapshot;
	MDB_txn *mdb;
	int rc;

	assert(!write || !db->read_only);
	if (db->source != NULL) {
		assert(!write);
		*txn = memory_zero(1, sizeof(**txn));
		(*txn)->db = db;
		return 0;
	}
	rc = db_env_begin(db->shared, write, &mdb, &snapshot);
	if (rc != 0)
		return db_env_refuse(db->path, "begin", rc, err);
	*txn = memory_zero(1, sizeof(**txn));
	(*txn)->snapshot = snapshot;
	(*txn)->db = db;
	(*txn)->mdb = mdb;
	(*txn)->write = write;
	return 0;
}

void
db_txn_fail(struct db_txn *txn, int rc, const char *doing)
{
	if (txn->rc == 0) {
		txn->rc = rc;
		txn->doing = doing;
	}
}

/* A short write, which comes from a disk that is almost full or from another
 * limit, comes out of LMDB as EIO. */
static int
cause_of(const struct db *db, int rc)
{
	int limit = rc == EIO ? db_env_limit(db) : 0;

	return limit != 0 ? limit : rc;
}

static enum db_result
result_of(int rc)
{
	if (rc == 0)
		return DB_OK;
	if (rc == MDB_MAP_FULL || file_io_is_full(rc))
		return DB_FULL;
	return rc == MDB_CORRUPTED ? DB_DAMAGED : DB_BROKEN;
}

void *
db_txn_memory(const struct db_txn *txn)
{
	return txn->memory;
}

void
db_txn_set_memory(
    struct db_txn *txn, void *memory, void (*free_memory)(void *memory))
{
	txn->memory = memory;
	txn->free_memory = free_memory;
}

static int
end(struct db_txn **txn, bool commit)
{
	struct db *db = (*txn)->db;
	int rc = 0;

	if ((*txn)->memory != NULL)
		(*txn)->free_memory((*txn)->memory);

	if (db->source != NULL) {
		db->source->end(db->source->arg);
	} else if (!(*txn)->write) {
		db_env_end_read(db->shared, (*txn)->mdb);
	} else {
		if (commit)
			rc = mdb_txn_commit((*txn)->mdb);
		else
			mdb_txn_abort((*txn)->mdb);
		db_env_end(db->shared);
	}
	free(*txn);
	*txn = NULL;
	if (db->read_only)
		db_resident_drop(db);
	return rc;
}

enum db_result
db_commit(struct db_txn **txn, struct err *err)
{
	struct db *db = (*txn)->db;
	const char *doing = (*txn)->doing;
	char why[DB_TXN_WHY_BYTES];
	int rc = (*txn)->rc;

	heartbeat_beat();
	if (db->source != NULL) {
		*err = (*txn)->source_err;
		end(txn, false);
		return result_of(rc);
	}
	if (rc == 0 && snapshot_is_unreadable(db->shared))
		rc = SNAPSHOT_UNREADABLE;
	if (rc != 0) {
		if (doing == (*txn)->why)
			doing = strcpy(why, (*txn)->why);
		end(txn, false);
	} else {
		doing = "commit";
		rc = end(txn, true);
	}
	rc = cause_of(db, rc);
	if (rc != 0 && doing == why)
		err_set(err, "%s: %s", db->path, why);
	else if (rc == MDB_MAP_FULL)
		err_set(err,
		    "%s: the map is full, of %" PRIu64 " bytes (--map-bytes); "
		    "start with a larger one",
		    db->path, db->shared->map_bytes);
	else if (file_io_is_full(rc))
		err_set(err, "%s: %s", db->path, file_io_sentence(rc));
	else if (rc != 0)
		db_env_refuse(db->path, doing, rc, err);
	return result_of(rc);
}

void
db_abort(struct db_txn **txn)
{
	if (*txn == NULL)
		return;
	end(txn, false);
}

bool
db_failed(const struct db_txn *txn)
{
	return txn->rc != 0 || (txn->db->shared != NULL &&
				   snapshot_is_unreadable(txn->db->shared));
}

bool
db_was_damaged(const struct db_txn *txn)
{
	return txn->damaged;
}

MDB_dbi
db_txn_table(const struct db_txn *txn, unsigned table)
{
	assert(table < txn->db->tables);
	return txn->db->shared->dbi[txn->db->dbi_index[table]];
}

MDB_val
db_val(struct text t)
{
	/* LMDB takes void *, and does not write through it. */
	return (MDB_val){ t.bytes, (void *)(uintptr_t)t.at };
}

MDB_val
db_key(struct text key)
{
	assert(key.bytes > 0 && key.bytes <= DB_KEY_BYTES_MAX);
	return db_val(key);
}

struct text
db_word_key(unsigned char to[static DB_KEY_BYTES_MAX], const char *word,
    struct text rest)
{
	uint32_t bytes = (uint32_t)strlen(word);

	assert(rest.bytes <= DB_KEY_BYTES_MAX - bytes);
	memcpy(to, word, bytes);
	memcpy(to + bytes, rest.at, rest.bytes);
	return (struct text){ (const char *)to, bytes + rest.bytes };
}

static uint32_t
checksum(const struct db_txn *txn, unsigned table, struct text key,
    const unsigned char *value, uint32_t bytes)
{
	uint32_t seed = txn->db->shared->seed[txn->db->dbi_index[table]];

	return crc32c(crc32c(seed, key.at, key.bytes), value, bytes);
}

bool
db_txn_checksum_is(
    const struct db_txn *txn, unsigned table, struct text key, MDB_val stored)
{
	const unsigned char *at = stored.mv_data;
	uint32_t bytes = (uint32_t)stored.mv_size - CRC_BYTES;
	uint32_t kept;

	if (stored.mv_size < CRC_BYTES || stored.mv_size > UINT32_MAX ||
	    !snapshot_has(&txn->snapshot, at, stored.mv_size))
		return false;
	memcpy(&kept, at + bytes, sizeof(kept));
	return kept == checksum(txn, table, key, at, bytes);
}

bool
db_txn_check(struct db_txn *txn, unsigned table, MDB_val key, MDB_val stored,
    struct text *value)
{
	struct text name = { key.mv_data, (uint32_t)key.mv_size };

	if (!db_txn_checksum_is(txn, table, name, stored)) {
		db_note_damage(txn, table, name);
		return false;
	}
	*value = (struct text){ stored.mv_data,
		(uint32_t)stored.mv_size - CRC_BYTES };
	if (txn->db->read_only)
		db_resident_note(txn->db, stored.mv_data, stored.mv_size);
	return true;
}

/* A search misses rows of a leaf whose keys are out of order. */
static void
look_through(struct snapshot_path *path, struct text key)
{
	const void *leaf = snapshot_path_leaf(path);

	for (unsigned i = 0; i < page_count(leaf); i++)
		if (text_equal(page_key(leaf, i), key)) {
			path->at[path->depth - 1].index = i;
			return;
		}
}

/* Can the row be asked for?  If not, it counts as damaged. */
static bool
has_way(struct db_txn *txn, unsigned table, struct text key,
    struct snapshot_path *path)
{
	enum snapshot_way way;

	db_txn_path(txn, table, path);
	way = snapshot_path_seek(path, key);
	if (way == WAY_LEAF || way == WAY_NONE)
		return true;
	db_txn_damage(txn, table, path->bad);
	txn->damaged = true; /* unless it is found */
	if (way == WAY_DAMAGED || txn->write)
		return false;
	look_through(path, key);
	return true;
}

/* Only a writer asks LMDB, which knows what the transaction has changed. */
static int
find_row(struct db_txn *txn, unsigned table, struct text key,
    const struct snapshot_path *path, MDB_val *stored)
{
	MDB_val k = db_key(key);
	const void *leaf;
	unsigned row;

	if (txn->write)
		return mdb_get(txn->mdb, db_txn_table(txn, table), &k, stored);
	if (path->depth == 0)
		return MDB_NOTFOUND;
	leaf = snapshot_path_leaf(path);
	row = path->at[path->depth - 1].index;
	if (row >= page_count(leaf) ||
	    page_compare(page_key(leaf, row), key) != 0)
		return MDB_NOTFOUND;
	*stored = db_txn_stored(txn, leaf, row);
	return 0;
}

bool
db_txn_ask(struct db_txn *txn, unsigned table, enum db_source_place place,
    struct text key, struct text *found, struct text *value)
{
	const struct db_source *source = txn->db->source;
	int rc = 0;

	if (txn->rc == 0)
		rc = source->row(source->arg, table, place, key, found, value,
		    &txn->source_err);
	/* A cursor has room for a key, and knows by it where it is. */
	if (rc > 0 && (found->bytes == 0 || found->bytes > DB_KEY_BYTES_MAX))
		rc =
		    err_set(&txn->source_err, "%s: a row has a key of %u bytes",
			txn->db->path, found->bytes);
	if (rc < 0)
		db_txn_fail(txn, SNAPSHOT_UNREADABLE, "ask");
	return rc > 0;
}

bool
db_get(struct db_txn *txn, unsigned table, struct text key, struct text *value)
{
	struct snapshot_path path;
	struct text found;
	MDB_val stored;
	int rc;

	txn->damaged = false;
	*value = (struct text){ NULL, 0 };
	if (txn->db->source != NULL)
		return db_txn_ask(txn, table, DB_SOURCE_AT, key, &found, value);
	if (txn->rc != 0 || !has_way(txn, table, key, &path))
		return false;
	rc = find_row(txn, table, key, &path, &stored);
	if (rc == 0) {
		txn->damaged =
		    !db_txn_check(txn, table, db_val(key), stored, value);
		return !txn->damaged;
	}
	if (rc != MDB_NOTFOUND) {
		db_txn_fail(txn, rc, "get");
	} else if (!db_txn_lacks(txn, table, key, &path)) {
		txn->damaged = true;
	}
	return false;
}

bool
db_need(struct db_txn *txn, unsigned table, struct text key, struct text *value)
{
	bool found = db_get(txn, table, key, value);

	if (txn->damaged && txn->write)
		db_txn_refuse_row(txn, table);
	return found;
}

/* Does LMDB put it on overflow pages?  Perhaps, if it is about as large. */
static bool
is_large(const struct db_txn *txn, struct text key, size_t bytes)
{
	return key.bytes + bytes + ROW_ROOM >
	       txn->snapshot.limits.page_bytes / 2;
}

void
db_txn_make_room(
    struct db_txn *txn, unsigned table, struct text key, size_t bytes)
{
	MDB_val k = db_key(key), old;
	MDB_dbi dbi = db_txn_table(txn, table);
	int rc = MDB_NOTFOUND;

	if (txn->has_large[table])
		rc = mdb_get(txn->mdb, dbi, &k, &old);
	if (rc == 0 && is_large(txn, key, old.mv_size))
		rc = mdb_del(txn->mdb, dbi, &k, NULL);
	if (rc != 0 && rc != MDB_NOTFOUND)
		db_txn_fail(txn, rc, "put");
	if (is_large(txn, key, bytes))
		txn->has_large[table] = true;
}

unsigned char *
db_reserve(struct db_txn *txn, unsigned table, struct text key, uint32_t bytes,
    bool append)
{
	MDB_val k = db_key(key), v = { (size_t)bytes + CRC_BYTES, NULL };
	int rc;

	if (!db_txn_prepare(
		txn, table, key, append ? CHANGE_APPEND : CHANGE_PUT))
		return NULL;
	/* First of all, because the place of the value is valid until the next
	 * put. */
	db_txn_mark(txn, table, key, append ? CHANGE_APPEND : CHANGE_PUT);
	if (!append)
		db_txn_make_room(txn, table, key, v.mv_size);
	if (txn->rc != 0)
		return NULL;
	rc = mdb_put(txn->mdb, db_txn_table(txn, table), &k, &v,
	    MDB_RESERVE | (append ? MDB_APPEND : 0));
	if (rc != 0) {
		db_txn_fail(txn, rc, append ? "append" : "put");
		return NULL;
	}
	txn->reserved = table;
	return v.mv_data;
}

void
db_complete(
    struct db_txn *txn, struct text key, unsigned char *value, uint32_t bytes)
{
	uint32_t crc;

	if (txn->rc != 0 || value == NULL)
		return;
	crc = checksum(txn, txn->reserved, key, value, bytes);
	memcpy(value + bytes, &crc, sizeof(crc));
}

void
db_put(struct db_txn *txn, unsigned table, struct text key, struct text value)
{
	unsigned char *at = db_reserve(txn, table, key, value.bytes, false);

	if (at == NULL)
		return;
	if (value.bytes > 0)
		memcpy(at, value.at, value.bytes);
	db_complete(txn, key, at, value.bytes);
}

bool
db_del(struct db_txn *txn, unsigned table, struct text key)
{
	MDB_val k = db_key(key);
	int rc;

	if (!db_txn_prepare(txn, table, key, CHANGE_DELETE))
		return false;
	rc = mdb_del(txn->mdb, db_txn_table(txn, table), &k, NULL);
	if (rc != 0 && rc != MDB_NOTFOUND)
		db_txn_fail(txn, rc, "delete");
	if (rc == 0)
		db_txn_mark(txn, table, key, CHANGE_DELETE);
	return rc == 0;
}
