/*
 * admin - administration of a whole store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "aggregator/admin/verify.h"
#include "aggregator/db/durable_dir.h"
#include "aggregator/journal/verify.h"
#include "aggregator/marks/marks.h"
#include "aggregator/model/show.h"
#include "proto/os/owner/trusted_dir.h"
#include "proto/os/log.h"

enum { REPORTS_MAX = 100 };

int
admin_both_open(
    struct admin_both *both, const char *store, bool read_only, struct err *err)
{
	struct journal_options journal = {
		.read_only = read_only,
		.allow_network = true,
	};
	struct db_options tables = {
		.read_only = read_only,
		.allow_network = true,
	};

	*both = (struct admin_both){ NULL, NULL };
	if (journal_open(&both->journal, store, &journal, err) != 0)
		return -1;
	if (tables_open(&both->tables, store, &tables, err) != 0) {
		journal_close(&both->journal);
		return -1;
	}
	return 0;
}

void
admin_both_close(struct admin_both *both)
{
	db_close(&both->tables);
	journal_close(&both->journal);
}

int
admin_find(const char *store, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	struct stat st;

	if (durable_dir_path(path, store, "journal", err) != 0)
		return -1;
	if (stat(path, &st) == 0)
		return 0;
	if (errno != ENOENT)
		return err_set(err, "%s: %s", path, strerror(errno));
	return err_set(err,
	    "no store in %s: give --dir or --store (the aggregator creates a "
	    "store when it starts)",
	    store);
}

static int
take_lock(struct lockfile *lockfile, const char *store, struct err *err)
{
	long holder;

	if (lockfile_take_dir(lockfile, store, "LOCK", &holder, err) == 0)
		return 0;
	if (holder > 0)
		err_set(err, "%s is in use by process %ld", store, holder);
	return -1;
}

static int
take_files_lock(struct lockfile *lockfile, const char *store, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	long holder;

	if (durable_dir_path(path, store, "ADMIN", err) != 0)
		return -1;
	if (lockfile_take(lockfile, path, &holder, err) == 0)
		return 0;
	if (holder > 0)
		err_set(err,
		    "%s: process %ld is changing the store: wait for it", store,
		    holder);
	return -1;
}

/* Root would leave files that the store's user cannot write. */
int
admin_lock(struct lockfile *lockfile, const char *store, struct err *err)
{
	return trusted_dir_own(store, err) != 0
		   ? -1
		   : take_lock(lockfile, store, err);
}

int
admin_lock_files(struct lockfile *lockfile, const char *store, struct err *err)
{
	return trusted_dir_own(store, err) != 0
		   ? -1
		   : take_files_lock(lockfile, store, err);
}

int
admin_lock_to_replace(struct lockfile *lockfile, struct lockfile *files,
    const char *store, struct err *err)
{
	return take_lock(lockfile, store, err) != 0
		   ? -1
		   : take_files_lock(files, store, err);
}

/* ---- verify ---- */

static void
report(void *arg, const char *sentence)
{
	uint64_t *reports = arg;

	if ((*reports)++ < REPORTS_MAX)
		log_error("%s", sentence);
}

int
admin_verify(const char *store, struct err *err)
{
	struct admin_both both;
	uint64_t reports = 0;
	int64_t journal, tables;

	if (admin_both_open(&both, store, true, err) != 0)
		return -1;
	journal = journal_verify(both.journal, report, &reports, err);
	tables = journal < 0
		     ? -1
		     : verify_tables(both.tables, report, &reports, err);
	admin_both_close(&both);
	if (tables < 0)
		return -1;
	if (journal + tables > 0)
		return err_set_code(err, ERR_FOUND,
		    "verify: %s: %" PRId64 " errors", store, journal + tables);
	log_info("verify: %s: ok", store);
	return 0;
}

/* ---- models ---- */

int
admin_list_models(const char *store, struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	struct model_set set = { .phase = NULL };
	struct db *tables;
	struct db_txn *txn;
	int rc;

	if (tables_open(&tables, store, &how, err) != 0)
		return -1;
	rc = db_begin(tables, false, &txn, err);
	if (rc == 0) {
		tables_get_models(txn, &set);
		db_abort(&txn);
		model_show_all(&set, stdout);
		if (fflush(stdout) != 0)
			rc = err_set(err, "cannot write standard output");
	}
	model_set_clear(&set);
	db_close(&tables);
	return rc;
}

/* ---- vacuum ---- */

static uint64_t
file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Replace the old environment by its copy.  A reader that has the old one open
 * keeps reading it until it opens the store again.  The lock file goes with
 * the old one: its transaction numbers do not apply to the copy, and LMDB
 * would choose the wrong one of its two root pages. */
static int
swap(const char *dir, const char *copy, struct err *err)
{
	char from[DURABLE_DIR_PATH_BYTES], to[DURABLE_DIR_PATH_BYTES];
	uint64_t before, after;

	if (durable_dir_path(from, copy, "data.mdb", err) != 0 ||
	    durable_dir_path(to, dir, "data.mdb", err) != 0)
		return -1;
	before = file_bytes(to);
	after = file_bytes(from);
	if (durable_dir_exchange(dir, copy, err) != 0)
		return -1;
	log_info("%s: vacuumed from %" PRIu64 " to %" PRIu64 " bytes", dir,
	    before, after);
	return durable_dir_remove(copy, err);
}

static int
compact_copies(
    const char *store, const char *tables, const char *journal, struct err *err)
{
	struct admin_both both;
	int rc;

	if (admin_both_open(&both, store, false, err) != 0)
		return -1;
	rc = durable_dir_remove(tables, err);
	if (rc == 0)
		rc = durable_dir_remove(journal, err);
	if (rc == 0)
		rc = db_copy(both.tables, tables, err);
	if (rc == 0)
		rc = db_copy(journal_db(both.journal), journal, err);
	admin_both_close(&both);
	return rc;
}

int
admin_vacuum(const char *store, struct err *err)
{
	char tables[DURABLE_DIR_PATH_BYTES], journal[DURABLE_DIR_PATH_BYTES];
	char copied_tables[DURABLE_DIR_PATH_BYTES],
	    copied_journal[DURABLE_DIR_PATH_BYTES];
	struct lockfile lockfile = { 0 }, files = { 0 };
	int rc;

	if (durable_dir_path(tables, store, "tables", err) != 0 ||
	    durable_dir_path(journal, store, "journal", err) != 0 ||
	    durable_dir_path(copied_tables, store, "tables.compact", err) !=
		0 ||
	    durable_dir_path(copied_journal, store, "journal.compact", err) !=
		0 ||
	    admin_lock(&lockfile, store, err) != 0)
		return -1;
	rc = admin_lock_files(&files, store, err);
	if (rc == 0)
		rc = compact_copies(store, copied_tables, copied_journal, err);
	/* Each swap is atomic.  A crash between them is harmless: the old and
	 * the new environment hold the same rows. */
	if (rc == 0)
		rc = swap(tables, copied_tables, err);
	if (rc == 0)
		rc = swap(journal, copied_journal, err);
	lockfile_release(&files);
	lockfile_release(&lockfile);
	return rc;
}

/* ---- indexing without an aggregator ---- */

/* Phases of records that only the archive has would be lost, there too. */
static int
check_rebuild(struct writer *writer, struct err *err)
{
	struct db_txn *txn;
	bool lacks_records;

	if (db_begin(writer_db(writer), false, &txn, err) != 0)
		return -1;
	lacks_records =
	    marks_are_kept(txn) && tables_fact(txn, FACT_RETAINED) != 0;
	db_abort(&txn);
	return !lacks_records
		   ? 0
		   : err_set(err,
			 "nothing was rebuilt: retention has deleted records "
			 "that only the archive has now, and their phases and "
			 "test runs would be lost, in the archive too; rebuild "
			 "a store that poolscope archive restore has made");
}

static int
rebuild(struct writer *writer, struct err *err)
{
	return check_rebuild(writer, err) == 0 ? writer_rebuild(writer, err)
					       : -1;
}

static int
compact(struct writer *writer, struct err *err)
{
	return writer_run(writer, err) == 0 ? writer_compact(writer, err) : -1;
}

static int
with_indexer(const char *store, const struct writer_options *options,
    int (*work)(struct writer *writer, struct err *err), struct err *err)
{
	struct journal_options how = {
		.map_bytes = options->map_bytes,
		.allow_network = options->allow_network,
	};
	struct lockfile lockfile = { 0 };
	struct journal *journal = NULL;
	struct writer *writer = NULL;
	int rc;

	if (admin_lock(&lockfile, store, err) != 0)
		return -1;
	rc = journal_open(&journal, store, &how, err);
	if (rc == 0)
		rc = writer_open(&writer, store, journal, options, err);
	if (rc == 0)
		rc = work(writer, err);
	writer_close(&writer);
	journal_close(&journal);
	lockfile_release(&lockfile);
	return rc;
}

int
admin_rebuild(
    const char *store, const struct writer_options *options, struct err *err)
{
	struct writer_options how = *options;
	int rc;

	how.will_rebuild = true;
	rc = with_indexer(store, &how, rebuild, err);
	if (rc == 0)
		log_info("%s: phases and statistics were rebuilt", store);
	return rc;
}

int
admin_compact(
    const char *store, const struct writer_options *options, struct err *err)
{
	int rc = with_indexer(store, options, compact, err);

	if (rc == 0)
		log_info("%s: all records are compacted", store);
	return rc;
}
