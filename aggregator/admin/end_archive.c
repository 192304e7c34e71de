/*
 * end_archive - a store forgets that it has an archive.
 *
 * The store gets a new generation, by which the archive knows its owner: what
 * changes from now on is not noted, so the old copy must not be continued.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include "aggregator/marks/marks.h"
#include "proto/os/log.h"

enum { ROWS = 32 << 10 }; /* deleted by a transaction */

/* First the fact, by which changes are marked. */
static int
forget(struct db *tables, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(tables, true, &txn, err) != 0)
		return -1;
	db_del(txn, TABLES_META, text_of(FACT_ARCHIVE));
	db_del(txn, TABLES_META, text_of(FACT_MARKING));
	db_del(txn, TABLES_META, text_of(FACT_ARCHIVE_ID));
	db_del(txn, TABLES_META, text_of(FACT_ARCHIVED));
	db_del(txn, TABLES_META, text_of(FACT_CLEARED));
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

static int
delete_all(struct db *tables, unsigned table, uint64_t *rows, struct err *err)
{
	const struct text all = { NULL, 0 };
	uint64_t deleted;

	do {
		struct db_txn *txn;

		if (db_begin(tables, true, &txn, err) != 0)
			return -1;
		deleted = tables_delete(txn, table, all, ROWS);
		if (db_commit(&txn, err) != DB_OK)
			return -1;
		*rows += deleted;
	} while (deleted == ROWS);
	return 0;
}

static int
end(struct admin_both *both, const char *store, struct err *err)
{
	uint64_t marks = 0, streams = 0;

	if (journal_renew(both->journal, err) != 0 ||
	    forget(both->tables, err) != 0 ||
	    delete_all(both->tables, TABLES_MARKS, &marks, err) != 0 ||
	    delete_all(both->tables, TABLES_STREAMS, &streams, err) != 0)
		return -1;
	log_info("%s: has no archive any more; the archive lacks %llu rows or "
		 "slices of it",
	    store, (unsigned long long)marks);
	return 0;
}

int
admin_end_archive(const char *store, struct err *err)
{
	struct admin_both both = { NULL, NULL };
	struct lockfile lockfile = { 0 };
	int rc = -1;

	if (admin_lock(&lockfile, store, err) != 0)
		return -1;
	if (admin_both_open(&both, store, false, err) == 0)
		rc = end(&both, store, err);
	admin_both_close(&both);
	lockfile_release(&lockfile);
	return rc;
}
