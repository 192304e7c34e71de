/*
 * db - LMDB, with its troubles in one file.
 *
 * Synchronous always, no WRITEMAP, no DUPSORT.  An environment is
 * made under a temporary name, synced, renamed and its directory synced, since
 * a crash while LMDB creates a file leaves one that cannot be opened.  Network
 * file systems are refused.  Errors are sticky in a transaction: ten plain
 * lines, one check at the commit.  Every value ends in a CRC32C of key and
 * value, because LMDB has no checksums: put adds it, get checks and strips it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_DB_H
#define AGGREGATOR_DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct db;     /* one environment */
struct db_txn; /* one transaction */
struct db_cursor;

enum { DB_TABLES_MAX = 16, DB_KEY_BYTES_MAX = 511 };

/* The key of a row that is one of several of its sort: a word, and of what. */
struct text db_word_key(unsigned char to[static DB_KEY_BYTES_MAX],
    const char *word, struct text rest);

struct db_options {
	const char *const
	    *tables;        /* names, NULL-terminated: table i is tables[i] */
	uint64_t map_bytes; /* sparse; 0: $POOLSCOPE_MAP_BYTES, 1 TiB */
	bool read_only;     /* an exporter: never creates */
	bool allow_network; /* --force-network-fs */
	bool keep_map;      /* as large as the file says, when there is one */
	uint32_t format;    /* version of the store's format: another one
			       in the file is refused by name, untouched */
};

/* Returns a new handle for the directory `path` (holds data.mdb, lock.mdb).
 * One of the tables is "meta": the format stands in it under "format".
 * Handles of one process for one directory share the environment, since LMDB
 * must not open a file twice; the first to open it says how. */
int db_open(struct db **db, const char *path, const struct db_options *options,
    struct err *err);
void db_close(struct db **db);

int db_begin(struct db *db, bool write, struct db_txn **txn, struct err *err);

enum db_result {
	DB_OK,
	DB_FULL,  /* map or disk: nothing of it is there, go on later */
	DB_BROKEN /* anything else: end the process, the state on disk is good
		   */
};
/* Ends the transaction in any case and sets `*txn` to NULL. */
enum db_result db_commit(struct db_txn **txn, struct err *err);
void db_abort(struct db_txn **txn);

/* Has a call failed in this transaction?  Then all later ones do nothing. */
bool db_failed(const struct db_txn *txn);

/* True when found; `value` is a view into the map, valid until the end of the
 * transaction (in a write transaction: until the next put). */
bool db_get(
    struct db_txn *txn, unsigned table, struct text key, struct text *value);
void db_put(
    struct db_txn *txn, unsigned table, struct text key, struct text value);
/* The same of a row that a writer cannot go on without: when it is damaged the
 * transaction has failed.  In a transaction that only reads it is db_get. */
bool db_need(
    struct db_txn *txn, unsigned table, struct text key, struct text *value);
/* Was the row of the last db_get there, but damaged? */
bool db_was_damaged(const struct db_txn *txn);
/* Room for `bytes` that the caller fills before the next call, and then
 * compactions with db_seal: saves the copy for large values.  `append`: the key
 * is known to come after all others of the table. */
unsigned char *db_reserve(struct db_txn *txn, unsigned table, struct text key,
    uint32_t bytes, bool append);
void db_seal(
    struct db_txn *txn, struct text key, unsigned char *value, uint32_t bytes);
bool db_del(struct db_txn *txn, unsigned table, struct text key);

/* Cursors: for reading, and for sorted puts of many keys (fast when the key
 * falls on the page of the last).  Closed by db_cursor_close before the
 * transaction ends. */
struct db_cursor *db_cursor_open(struct db_txn *txn, unsigned table);
void db_cursor_close(struct db_cursor **cursor);
/* First key >= `key`; empty `key`: the first of all.  False at the end.
 * Damaged rows are skipped and counted. */
bool db_seek(struct db_cursor *cursor, struct text key, struct text *found,
    struct text *value);
bool db_next(struct db_cursor *cursor, struct text *found, struct text *value);
bool db_last(struct db_cursor *cursor, struct text *found, struct text *value);
/* The same, but the rows may be damaged: for who counts on from a key, or
 * tidies up. */
bool db_seek_key(struct db_cursor *cursor, struct text key, struct text *found);
bool db_last_key(struct db_cursor *cursor, struct text *found);
/* Returns where the value stands until the next put; NULL: failed. */
const char *db_cursor_put(
    struct db_cursor *cursor, struct text key, struct text value);
/* Delete the row under the cursor; db_next goes on behind it. */
void db_cursor_del(struct db_cursor *cursor);

struct db_status {
	uint64_t map_bytes, used_bytes,
	    free_bytes; /* pages in use, in the free list */
	uint64_t file_bytes;
	uint64_t rows[DB_TABLES_MAX];
	uint64_t bytes[DB_TABLES_MAX]; /* of pages that a table has */
	uint32_t readers;
	uint64_t damaged; /* rows whose checksum was wrong */
};
int db_status(struct db *db, struct db_status *status, struct err *err);

/* Clear slots of readers that died; returns how many. */
int db_clear_stale_readers(struct db *db);

/* A compacted, consistent copy of a running environment into the directory
 * `to` (must not exist): written under a temporary name, synced, renamed. */
int db_copy(struct db *db, const char *to, struct err *err);

#endif
