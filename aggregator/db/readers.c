/*
 * db_readers - the slots that LMDB has for reading transactions.
 *
 * A reader that dies leaves its slot taken, and LMDB then reuses none of the
 * pages that were freed since.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "aggregator/db/snapshot.h"

enum { ATTEMPTS = 64 };

static int
begin_read(struct db_env *shared, MDB_txn **txn)
{
	int rc = mdb_txn_begin(shared->env, NULL, MDB_RDONLY, txn), dead;

	if (rc == MDB_READERS_FULL &&
	    mdb_reader_check(shared->env, &dead) == 0 && dead > 0)
		rc = mdb_txn_begin(shared->env, NULL, MDB_RDONLY, txn);
	return rc;
}

static MDB_txn *
take_spare(struct db_env *shared)
{
	MDB_txn *txn = NULL;

	pthread_mutex_lock(&shared->spare_lock);
	if (shared->spares > 0)
		txn = shared->spare[--shared->spares];
	pthread_mutex_unlock(&shared->spare_lock);
	return txn;
}

static bool
keep_spare(struct db_env *shared, MDB_txn *txn)
{
	bool kept;

	if (shared->read_only)
		return false;
	mdb_txn_reset(txn);
	pthread_mutex_lock(&shared->spare_lock);
	kept = shared->spares < DB_SPARE_MAX;
	if (kept)
		shared->spare[shared->spares++] = txn;
	pthread_mutex_unlock(&shared->spare_lock);
	return kept;
}

static int
begin(struct db_env *shared, bool write, MDB_txn **txn)
{
	int rc;

	if (write)
		return mdb_txn_begin(shared->env, NULL, 0, txn);
	*txn = take_spare(shared);
	if (*txn == NULL)
		return begin_read(shared, txn);
	rc = mdb_txn_renew(*txn);
	if (rc != 0 && !keep_spare(shared, *txn))
		mdb_txn_abort(*txn);
	return rc;
}

static void
end(struct db_env *shared, bool write, MDB_txn *txn)
{
	if (write || !keep_spare(shared, txn))
		mdb_txn_abort(txn);
}

/* A reader may have begun with a header that a writer has changed since. */
static int
begin_checked(
    struct db_env *shared, bool write, MDB_txn **txn, struct snapshot *snapshot)
{
	int rc;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		rc = begin(shared, write, txn);
		if (rc != 0)
			return rc;
		rc = snapshot_begin(snapshot, shared, *txn, write);
		if (rc == 0)
			return 0;
		end(shared, write, *txn);
		if (rc != EAGAIN)
			return rc;
	}
	return SNAPSHOT_HEADER;
}

int
db_env_begin(
    struct db_env *shared, bool write, MDB_txn **txn, struct snapshot *snapshot)
{
	int rc;

	atomic_fetch_add(&shared->transactions, 1);
	rc = begin_checked(shared, write, txn, snapshot);
	/* Another process has enlarged the map: do the same, unless this
	 * process has views into the old one. */
	if (rc == MDB_MAP_RESIZED && atomic_load(&shared->transactions) == 1 &&
	    mdb_env_set_mapsize(shared->env, 0) == 0) {
		atomic_fetch_add(&shared->moves, 1);
		rc = begin_checked(shared, write, txn, snapshot);
	}
	if (rc != 0)
		atomic_fetch_sub(&shared->transactions, 1);
	return rc;
}

void
db_env_end(struct db_env *shared)
{
	atomic_fetch_sub(&shared->transactions, 1);
}

void
db_env_end_read(struct db_env *shared, MDB_txn *txn)
{
	end(shared, false, txn);
	db_env_end(shared);
}

int
db_env_make_spare(struct db_env *shared)
{
	MDB_txn *txn;
	int rc = 0;

	while (shared->spares < DB_SPARE_MAX &&
	       (rc = begin_read(shared, &txn)) == 0) {
		mdb_txn_reset(txn);
		shared->spare[shared->spares++] = txn;
	}
	return rc;
}

void
db_env_free_spare(struct db_env *shared)
{
	while (shared->spares > 0)
		mdb_txn_abort(shared->spare[--shared->spares]);
}

int
db_env_refuse(const char *path, const char *doing, int rc, struct err *err)
{
	if (rc == MDB_READERS_FULL)
		return err_set(err,
		    "%s: %d programs read this store, and no more can; end "
		    "some of them, or ask its aggregator (--connect)",
		    path, DB_READERS_MAX);
	if (snapshot_sentence(rc) != NULL)
		return err_set(err, "%s: %s", path, snapshot_sentence(rc));
	return err_set(err, "%s: %s: %s", path, doing, mdb_strerror(rc));
}

int
db_clear_stale_readers(struct db *db)
{
	int dead = 0;

	return mdb_reader_check(db->shared->env, &dead) == 0 ? dead : 0;
}
