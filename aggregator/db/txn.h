/*
 * db_txn - a transaction; private to this folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_TXN_H
#define AGGREGATOR_DB_TXN_H

#include "aggregator/db/snapshot.h"
#include "aggregator/db/source.h"

enum { CRC_BYTES = 4, DB_TXN_WHY_BYTES = 160 };

struct db_txn {
	struct db *db;
	MDB_txn *mdb;
	struct err source_err; /* of a source, when it has failed */
	bool write;
	bool damaged; /* the last db_get found a wrong checksum */
	int rc;       /* the first failure; later calls do nothing */
	const char *doing;
	struct snapshot snapshot;
	/* The trees of the tables, as far as they were asked for. */
	bool has_tree[DB_TABLES_MAX];
	unsigned reserved; /* table of the value that is being filled */
	void *memory;      /* of others, */
	void (*free_memory)(void *memory);
	bool has_large[DB_TABLES_MAX]; /* put by this transaction */
	struct page_tree tree[DB_TABLES_MAX];
	/* mark.c: */
	bool knows_marking, is_marking, is_unmarked;
	uint64_t change;       /* 0: nothing is marked yet */
	uint32_t marked_bytes; /* of the last key; 0: none */
	uint32_t marked_row;   /* and its first row number */
	unsigned char marked[DB_KEY_BYTES_MAX];
	struct db_damage damage;    /* met so far */
	char why[DB_TXN_WHY_BYTES]; /* `doing`, when a page is damaged */
};

/* Ask the source of the handle (source.h); false: there is no such row, or the
 * transaction has failed. */
bool db_txn_ask(struct db_txn *txn, unsigned table, enum db_source_place place,
    struct text key, struct text *found, struct text *value);

void db_txn_fail(struct db_txn *txn, int rc, const char *doing);
MDB_dbi db_txn_table(const struct db_txn *txn, unsigned table);

/* Strip the checksum of a stored value; false when it is wrong. */
bool db_txn_check(struct db_txn *txn, unsigned table, MDB_val key,
    MDB_val stored, struct text *value);

/* Before `bytes` bytes are put.  Where this transaction has put more, LMDB
 * would leave the overflow pages as many as they are, and a page whose length
 * is not that of its value counts as damaged. */
void db_txn_make_room(
    struct db_txn *txn, unsigned table, struct text key, size_t bytes);

/* Is it the checksum of this table, key and value? */
bool db_txn_checksum_is(
    const struct db_txn *txn, unsigned table, struct text key, MDB_val stored);

/* The value of a row of a leaf, with its checksum. */
MDB_val db_txn_stored(const struct db_txn *txn, const void *leaf, unsigned row);

/* A key that a flipped bit has changed is not found where it is sought, but it
 * is still in its place: before or at the place where the way ends.  False: the
 * row before is damaged, or a key of a branch that led here. */
bool db_txn_check_before(
    struct db_txn *txn, unsigned table, const struct snapshot_path *path);
/* Is it certain that there is no row of `key`?  The way is that of a seek. */
bool db_txn_lacks(struct db_txn *txn, unsigned table, struct text key,
    const struct snapshot_path *path);

/* Begin the way to a row of `table`. */
void db_txn_path(
    struct db_txn *txn, unsigned table, struct snapshot_path *path);
/* Count a page that is damaged; or fail because of it, or of a row. */
void db_txn_damage(struct db_txn *txn, unsigned table, uint64_t page);
void db_txn_refuse(struct db_txn *txn, unsigned table, uint64_t page);
void db_txn_refuse_row(struct db_txn *txn, unsigned table);
/* Before LMDB writes the row: check what it will touch.  False: the
 * transaction has failed. */
enum db_change { CHANGE_PUT, CHANGE_APPEND, CHANGE_DELETE };
bool db_txn_prepare(
    struct db_txn *txn, unsigned table, struct text key, enum db_change change);

/* Before a row is put, and when one is deleted: the one place that marks it, if
 * the tables are such. */
void db_txn_mark(
    struct db_txn *txn, unsigned table, struct text key, enum db_change change);

/* Convert to LMDB's form; a key must have a length that LMDB accepts. */
MDB_val db_val(struct text t);
MDB_val db_key(struct text key);

#endif
