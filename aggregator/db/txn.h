/*
 * db_txn - a transaction, as txn.c and cursor.c see it.
 *
 * Private to them.
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
	bool damaged; /* the last db_get met a bad checksum */
	int rc;       /* the first failure; then nothing more is done */
	const char *doing;
};

void db_txn_fail(struct db_txn *txn, int rc, const char *doing);
MDB_dbi db_txn_table(const struct db_txn *txn, unsigned table);

/* Take the checksum off a stored value; false when it does not fit. */
bool db_txn_unseal(
    struct db_txn *txn, MDB_val key, MDB_val stored, struct text *value);

/* As LMDB wants texts; a key must have a length that it takes. */
MDB_val db_val(struct text t);
MDB_val db_key(struct text key);

#endif
