/*
 * db_walk - rows of a snapshot, read without LMDB.
 *
 * Private to this folder, and for transactions that only read: nothing changes
 * the pages of their snapshot.  A page is read after it was checked, and the
 * place in the tree is that of the page, so keys that are damaged lead nobody
 * to pages that were not.  Pages that are damaged are counted and left out.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_WALK_H
#define AGGREGATOR_DB_WALK_H

#include "aggregator/db/txn.h"

struct db_walk {
	struct db_txn *txn;
	unsigned table;
	struct snapshot_path path; /* depth 0: nowhere yet */
	bool is_doubtful;          /* the leaf */
	struct text last;          /* key of the row given last; empty: none */
};

/* A row as it is stored: its checksum is not checked.  On a doubtful leaf, rows
 * that cannot be there or are out of order are left out, so that whoever goes
 * in one direction comes to an end. */
struct db_walk_row {
	struct text key;
	MDB_val stored;
};

void db_walk_begin(struct db_walk *walk, struct db_txn *txn, unsigned table);
/* To the first row of `key` or behind it; empty: to the first one.  On a
 * doubtful leaf there may be rows before it. */
bool db_walk_seek(
    struct db_walk *walk, struct text key, struct db_walk_row *row);
bool db_walk_last(struct db_walk *walk, struct db_walk_row *row);
/* From nowhere: to the first row, to the last one. */
bool db_walk_next(struct db_walk *walk, struct db_walk_row *row);
bool db_walk_previous(struct db_walk *walk, struct db_walk_row *row);

#endif
