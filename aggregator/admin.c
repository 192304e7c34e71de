/*
 * admin - what an operator does to a store as a whole.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/place.h"
#include "aggregator/tables.h"
#include "aggregator/journal_verify.h"
#include "proto/clock.h"
#include "proto/log.h"

enum { BACKUP_TRIES = 3, REPORTS_MAX = 100 };

/* Both environments of a store. */
struct both {
	struct journal *journal;
	struct db *tables;
};

static int
both_open(struct both *both, const char *store, bool read_only, struct err *err)
{
	struct journal_options journal = {
		.read_only = read_only,
		.allow_network = true,
	};
	struct db_options tables = {
		.read_only = read_only,
		.allow_network = true,
	};

	*both = (struct both){ NULL, NULL };
	if (journal_open(&both->journal, store, &journal, err) != 0)
		return -1;
	if (tables_open(&both->tables, store, &tables, err) != 0) {
		journal_close(&both->journal);
		return -1;
	}
	return 0;
}

static void
both_close(struct both *both)
{
	db_close(&both->tables);
	journal_close(&both->journal);
}

int
admin_lock(struct lock *lock, const char *store, struct err *err)
{
	char path[PLACE_PATH_BYTES];
	long holder;

	if (place_path(path, store, "LOCK", err) != 0)
		return -1;
	if (lock_take(lock, path, &holder, err) == 0)
		return 0;
	if (holder > 0)
		err_set(err, "%s is in use by process %ld", store, holder);
	return -1;
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
	struct both both;
	uint64_t reports = 0;
	int64_t journal, tables;

	if (both_open(&both, store, true, err) != 0)
		return -1;
	journal = journal_verify(both.journal, report, &reports, err);
	tables = journal < 0
		     ? -1
		     : tables_verify(both.tables, report, &reports, err);
	both_close(&both);
	if (tables < 0)
		return -1;
	if (journal + tables > 0)
		return err_set(err, "%s: %" PRId64 " things are wrong", store,
		    journal + tables);
	log_info("%s: journal and tables are as they should be", store);
	return 0;
}

/* ---- backup ---- */

static int
folded(struct db *tables, uint64_t *number, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	*number = tables_fact(txn, FACT_FOLDED);
	db_abort(&txn);
	return 0;
}

static int
write_manifest(const char *dir, const struct journal *journal, uint64_t reached,
    struct err *err)
{
	char path[PLACE_PATH_BYTES], when[CLOCK_TEXT_BYTES];
	FILE *file;
	int rc;

	if (place_path(path, dir, "manifest", err) != 0)
		return -1;
	file = fopen(path, "wxe");
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	fprintf(file,
	    "format %d\ngeneration %016" PRIx64 "\nfirst %" PRIu64
	    "\nnext %" PRIu64 "\nfolded %" PRIu64 "\nmade %s\n",
	    STORE_FORMAT, journal_generation(journal), journal_first(journal),
	    journal_next(journal), reached,
	    clock_text(when, clock_wall_ns(), 0));
	rc = ferror(file);
	if (fclose(file) != 0 || rc != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return place_sync(path, err);
}

/* What looking at the copy left there. */
static void
remove_locks(const char *dir)
{
	static const char *const names[] = { "tables/lock.mdb",
		"journal/lock.mdb" };
	char path[PLACE_PATH_BYTES];

	for (unsigned i = 0; i < 2; i++)
		if (place_path(path, dir, names[i], NULL) == 0)
			unlink(path);
}

/* Who goes on with the copy goes his own way, and senders are to see that. */
static int
finish_copy(const char *dir, uint64_t reached, struct err *err)
{
	const struct journal_options how = { .allow_network = true };
	struct journal *journal;
	int rc;

	if (journal_open(&journal, dir, &how, err) != 0)
		return -1;
	rc = journal_renew(journal, err);
	if (rc == 0)
		rc = write_manifest(dir, journal, reached, err);
	journal_close(&journal);
	return rc;
}

/* Does the copied journal begin at or before what the copied tables want
 * next?  While a large store was copied its front may have been purged. */
static int
check_copy(const char *dir, bool *covers, struct err *err)
{
	struct both copy;
	uint64_t reached, first, next;
	int rc;

	if (both_open(&copy, dir, true, err) != 0)
		return -1;
	first = journal_first(copy.journal);
	next = journal_next(copy.journal);
	rc = folded(copy.tables, &reached, err);
	*covers = rc == 0 && reached < next && first <= reached + 1;
	both_close(&copy);
	if (*covers)
		rc = finish_copy(dir, reached, err);
	remove_locks(dir);
	return rc;
}

/* Also what an attempt that was interrupted has left. */
static int
remove_copy(const char *dir, struct err *err)
{
	char path[PLACE_PATH_BYTES];

	if (place_path(path, dir, "tables", err) != 0 ||
	    place_remove(path, err) != 0 ||
	    place_path(path, dir, "journal", err) != 0 ||
	    place_remove(path, err) != 0 ||
	    place_path(path, dir, "manifest", err) != 0)
		return -1;
	unlink(path);
	return 0;
}

static int
copy_both(struct both *both, const char *dir, struct err *err)
{
	char tables[PLACE_PATH_BYTES], journal[PLACE_PATH_BYTES];

	if (place_path(tables, dir, "tables", err) != 0 ||
	    place_path(journal, dir, "journal", err) != 0 ||
	    remove_copy(dir, err) != 0)
		return -1;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if (db_copy(both->tables, tables, err) != 0)
		return -1;
	return db_copy(journal_db(both->journal), journal, err);
}

int
admin_backup(const char *store, const char *to, struct err *err)
{
	char temporary[PLACE_PATH_BYTES];
	struct both both;
	bool covers = false;
	int rc = 0;

	if (snprintf(temporary, sizeof(temporary), "%s.new", to) >=
	    (int)sizeof(temporary))
		return err_set(err, "%s: path is too long", to);
	if (access(to, F_OK) == 0)
		return err_set(err, "%s: %s", to, strerror(EEXIST));
	if (both_open(&both, store, true, err) != 0)
		return -1;
	for (unsigned i = 0; i < BACKUP_TRIES && rc == 0 && !covers; i++) {
		rc = copy_both(&both, temporary, err);
		if (rc == 0)
			rc = check_copy(temporary, &covers, err);
	}
	both_close(&both);
	if (rc == 0 && !covers)
		rc = err_set(err,
		    "%s: the journal is purged faster than it is copied; "
		    "raise --journal-keep and --journal-bytes",
		    store);
	if (rc == 0)
		rc = place_sync(temporary, err);
	if (rc == 0)
		rc = place_rename(temporary, to, err);
	if (rc == 0) {
		log_info("%s is copied to %s", store, to);
	} else if (remove_copy(temporary, NULL) == 0) {
		/* A copy that has no room should not keep what it took. */
		rmdir(temporary);
	}
	return rc;
}

/* ---- compact ---- */

static uint64_t
file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

/* Put the copy in the place of the old one.  A reader that has the old one
 * open goes on with it until it opens the store again.  Its lock file goes with
 * it: what that says of transactions is not true of the copy, and LMDB would
 * take the wrong one of its two roots. */
static int
swap(const char *dir, const char *copy, struct err *err)
{
	char from[PLACE_PATH_BYTES], to[PLACE_PATH_BYTES];
	uint64_t before, after;

	if (place_path(from, copy, "data.mdb", err) != 0 ||
	    place_path(to, dir, "data.mdb", err) != 0)
		return -1;
	before = file_bytes(to);
	after = file_bytes(from);
	if (place_exchange(dir, copy, err) != 0)
		return -1;
	log_info(
	    "%s: from %" PRIu64 " to %" PRIu64 " bytes", dir, before, after);
	return place_remove(copy, err);
}

static int
compact_copies(
    const char *store, const char *tables, const char *journal, struct err *err)
{
	struct both both;
	int rc;

	if (both_open(&both, store, false, err) != 0)
		return -1;
	rc = place_remove(tables, err);
	if (rc == 0)
		rc = place_remove(journal, err);
	if (rc == 0)
		rc = db_copy(both.tables, tables, err);
	if (rc == 0)
		rc = db_copy(journal_db(both.journal), journal, err);
	both_close(&both);
	return rc;
}

int
admin_compact(const char *store, struct err *err)
{
	char tables[PLACE_PATH_BYTES], journal[PLACE_PATH_BYTES];
	char copied_tables[PLACE_PATH_BYTES], copied_journal[PLACE_PATH_BYTES];
	struct lock lock = { 0 };
	int rc;

	if (place_path(tables, store, "tables", err) != 0 ||
	    place_path(journal, store, "journal", err) != 0 ||
	    place_path(copied_tables, store, "tables.compact", err) != 0 ||
	    place_path(copied_journal, store, "journal.compact", err) != 0 ||
	    admin_lock(&lock, store, err) != 0)
		return -1;
	rc = compact_copies(store, copied_tables, copied_journal, err);
	/* Each swap is atomic, and either half may be the old one: both hold
	 * the same rows. */
	if (rc == 0)
		rc = swap(tables, copied_tables, err);
	if (rc == 0)
		rc = swap(journal, copied_journal, err);
	lock_release(&lock);
	return rc;
}

/* ---- what the fold does, without an aggregator ---- */

static int
rebuild(struct fold *fold, struct err *err)
{
	return fold_rebuild(fold, err);
}

static int
seal(struct fold *fold, struct err *err)
{
	return fold_run(fold, err) == 0 ? fold_seal(fold, err) : -1;
}

static int
with_fold(const char *store, const struct fold_options *options,
    int (*work)(struct fold *fold, struct err *err), struct err *err)
{
	struct journal_options how = {
		.map_bytes = options->map_bytes,
		.allow_network = options->allow_network,
	};
	struct lock lock = { 0 };
	struct journal *journal = NULL;
	struct fold *fold = NULL;
	int rc;

	if (admin_lock(&lock, store, err) != 0)
		return -1;
	rc = journal_open(&journal, store, &how, err);
	if (rc == 0)
		rc = fold_open(&fold, store, journal, options, err);
	if (rc == 0)
		rc = work(fold, err);
	fold_close(&fold);
	journal_close(&journal);
	lock_release(&lock);
	return rc;
}

int
admin_rebuild(
    const char *store, const struct fold_options *options, struct err *err)
{
	int rc = with_fold(store, options, rebuild, err);

	if (rc == 0)
		log_info("%s: phases and statistics are derived again", store);
	return rc;
}

int
admin_seal(
    const char *store, const struct fold_options *options, struct err *err)
{
	int rc = with_fold(store, options, seal, err);

	if (rc == 0)
		log_info("%s: all records are sealed", store);
	return rc;
}
