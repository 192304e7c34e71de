/*
 * db - LMDB behind an interface that handles its pitfalls.
 *
 * Synchronous unless temporary, no WRITEMAP, no DUPSORT.  An environment is
 * created under a temporary name, synced, renamed and its directory synced,
 * because a crash while LMDB creates a file leaves one that cannot be opened.
 * Network file systems are refused.  Errors are sticky in a transaction: the
 * caller makes ten calls and checks once, at the commit.  Every value ends in a
 * CRC32C of key and value, because LMDB has no checksums: put adds it, get
 * checks and strips it.  LMDB trusts its pages, so each one is checked before
 * LMDB sees it.
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

enum { DB_TABLES_MAX = 20, DB_KEY_BYTES_MAX = 511 };

/* A key that is a word and a name: one of several rows of a kind. */
struct text db_word_key(unsigned char to[static DB_KEY_BYTES_MAX],
    const char *word, struct text rest);

/* Which changed rows get a mark in another table, in the same transaction: a
 * row whose key is the number of the table (u8) and the key, or its front, and
 * whose value is big-endian: u64 change number, u32 the first row number. */
enum { DB_MARK_WHOLE = UINT8_MAX, DB_MARK_BYTES = 12 };
struct db_marked {
	uint8_t key_bytes; /* 0: no marks; DB_MARK_WHOLE: the whole key; else
			      its front: the key ends in a row number (u32,
			      big-endian), and of those the first is kept */
	bool deletions;    /* get marks, too */
	const char *front; /* of the keys that get marks; NULL: all */
};
struct db_marking {
	unsigned marks, meta; /* tables */
	/* Rows of `meta`, varints: nothing is marked while the first one is
	 * absent or 0; the last change number, one for each transaction that
	 * marks something. */
	const char *is_on, *counter;
	struct db_marked of[DB_TABLES_MAX];
};

struct db_options {
	/* Names, NULL-terminated: table i is tables[i]. */
	const char *const *tables;
	uint64_t map_bytes; /* sparse; 0: $POOLSCOPE_MAP_BYTES, else 1 TiB */
	bool read_only;     /* for an exporter: never creates files */
	bool allow_network; /* --force-network-fs */
	bool temporary;     /* files without names that need no sync */
	bool keep_map;      /* use the size of the file, if there is one */
	uint32_t format;    /* of the store; any other is refused, unchanged */
	const struct db_marking *marking; /* outlives the handle; NULL: none */
};

/* Returns a new handle for the directory `path` (with data.mdb and lock.mdb).
 * One of the tables must be "meta"; its row "format" has the format.  Handles
 * of one process for one directory share the environment, because LMDB must not
 * open a file twice; the options of the first handle apply. */
int db_open(struct db **db, const char *path, const struct db_options *options,
    struct err *err);
void db_close(struct db **db);

int db_begin(struct db *db, bool write, struct db_txn **txn, struct err *err);

enum db_result {
	DB_OK,
	DB_FULL,    /* map, disk, quota or limit of files: `err` says which;
		       nothing    was committed, try again later */
	DB_DAMAGED, /* a page or a required row is: nothing was committed, and
		       what does not need it goes on */
	DB_BROKEN,  /* other failure: end the process; the disk is consistent */
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
/* As db_get, for a row that a writer requires: if it is damaged, the
 * transaction fails.  In a read-only transaction it is db_get. */
bool db_need(
    struct db_txn *txn, unsigned table, struct text key, struct text *value);
/* Memory that belongs to a transaction: it is freed when that ends.  NULL: none
 * yet. */
void *db_txn_memory(const struct db_txn *txn);
void db_txn_set_memory(
    struct db_txn *txn, void *memory, void (*free_memory)(void *memory));
/* Was the row of the last db_get present but damaged, or on a page that is; or
 * was a damaged row passed over since? */
bool db_was_damaged(const struct db_txn *txn);
/* Count a row whose value is of no use; db_was_damaged is true then. */
void db_note_damage(struct db_txn *txn, unsigned table, struct text key);
/* The places that the transaction has found damaged and left out. */
struct db_damage;
const struct db_damage *db_damage_met(const struct db_txn *txn);
/* Put a large value without copying it: reserve `bytes`, fill them before any
 * other call, then call db_complete.  `append`: the key is known to sort after
 * all others of the table. */
unsigned char *db_reserve(struct db_txn *txn, unsigned table, struct text key,
    uint32_t bytes, bool append);
void db_complete(
    struct db_txn *txn, struct text key, unsigned char *value, uint32_t bytes);
bool db_del(struct db_txn *txn, unsigned table, struct text key);

/* Mark a row, whatever its table is, although it has not changed; the key as in
 * the mark.  A mark keeps the lower of two first row numbers. */
void db_mark(
    struct db_txn *txn, unsigned table, struct text key, uint32_t first_row);
/* Until the next call the transaction marks nothing by itself: what changes is
 * of no interest to who reads the marks. */
void db_pause_marks(struct db_txn *txn, bool paused);

/* Cursors, for reading and for puts of many sorted keys (fast when a key is on
 * the page of the previous one).  Close them before the transaction ends. */
struct db_cursor *db_cursor_open(struct db_txn *txn, unsigned table);
void db_cursor_close(struct db_cursor **cursor);
/* First key >= `key`; empty `key`: the first of the table.  False at the end.
 * Damaged rows and pages are skipped and counted; a transaction that writes
 * fails at a damaged page. */
bool db_seek(struct db_cursor *cursor, struct text key, struct text *found,
    struct text *value);
bool db_next(struct db_cursor *cursor, struct text *found, struct text *value);
bool db_prev(struct db_cursor *cursor, struct text *found, struct text *value);
bool db_last(struct db_cursor *cursor, struct text *found, struct text *value);
/* Only keys, including those of damaged rows: to count or to delete. */
bool db_seek_key(struct db_cursor *cursor, struct text key, struct text *found);
bool db_last_key(struct db_cursor *cursor, struct text *found);
/* Returns the stored value, valid until the next put; NULL: failed. */
const char *db_cursor_put(
    struct db_cursor *cursor, struct text key, struct text value);
/* Delete the row under the cursor; db_next continues after it. */
void db_cursor_del(struct db_cursor *cursor);

struct db_status {
	uint64_t map_bytes;
	uint64_t used_bytes; /* of pages in use */
	uint64_t free_bytes; /* of pages in the free list */
	uint64_t file_bytes;
	uint64_t disk_bytes; /* free on its file system; UINT64_MAX: unknown */
	uint64_t rows[DB_TABLES_MAX];
	uint64_t bytes[DB_TABLES_MAX]; /* of the pages of each table */
	uint32_t readers;
	/* Rows and pages, each once since it was opened or verified. */
	uint64_t damaged;
	uint64_t damaged_rows; /* of these */
};
int db_status(struct db *db, struct db_status *status, struct err *err);

/* Check every page, before anything is read from them.  What was met until now
 * is forgotten: a caller that goes on to read everything meets it again.
 * `report` gets a sentence for each one that is damaged: its number, its table,
 * and the keys of the rows that are lost with it.  Returns their number; -1:
 * the file cannot be read at all. */
int64_t db_verify_pages(struct db *db,
    void (*report)(void *arg, const char *sentence), void *arg,
    struct err *err);

/* Clear the slots of readers that have died; returns how many. */
int db_clear_stale_readers(struct db *db);

/* Write a compacted, consistent copy of an environment in use to the directory
 * `to` (must not exist): under a temporary name, synced, then renamed. */
int db_copy(struct db *db, const char *to, struct err *err);

#endif
