/*
 * db_txn - a transaction, for txn.c and cursor.c only.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_TXN_H
#define AGGREGATOR_DB_TXN_H

#include "aggregator/db/env.h"

enum { CRC_BYTES = 4 };

struct db_txn {
	struct db *db;
	MDB_txn *mdb;
	bool write;
	bool damaged; /* the last db_get found a wrong checksum */
	int rc;       /* the first failure; later calls do nothing */
	const char *doing;
};

void db_txn_fail(struct db_txn *txn, int rc, const char *doing);
MDB_dbi db_txn_table(const struct db_txn *txn, unsigned table);

/* Strip the checksum of a stored value; false when it is wrong. */
bool db_txn_check(
    struct db_txn *txn, MDB_val key, MDB_val stored, struct text *value);

/* Convert to LMDB's form; a key must have a length that LMDB accepts. */
MDB_val db_val(struct text t);
MDB_val db_key(struct text key);

#endif
