/*
 * admin_backup - a copy of a store that may be in use.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { BACKUP_TRIES = 3 };

static int
indexed(struct db *tables, uint64_t *number, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	*number = tables_fact(txn, FACT_INDEXED);
	db_abort(&txn);
	return 0;
}

static int
write_manifest(const char *dir, const struct journal *journal, uint64_t reached,
    struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES], when[CLOCK_TEXT_BYTES];
	FILE *file;
	int rc;

	if (durable_dir_path(path, dir, "manifest", err) != 0)
		return -1;
	file = fopen(path, "wxe");
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	fprintf(file,
	    "format %d\ngeneration %016" PRIx64 "\nfirst %" PRIu64
	    "\nnext %" PRIu64 "\nindexed %" PRIu64 "\nmade %s\n",
	    STORE_FORMAT, journal_generation(journal), journal_first(journal),
	    journal_next(journal), reached,
	    clock_text(when, clock_wall_ns(), 0));
	rc = ferror(file);
	if (fclose(file) != 0 || rc != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return durable_dir_sync(path, err);
}

/* Lock files, left by opening the copy. */
void
admin_remove_locks(const char *dir)
{
	static const char *const names[] = { "tables/lock.mdb",
		"journal/lock.mdb" };
	char path[DURABLE_DIR_PATH_BYTES];

	for (unsigned i = 0; i < 2; i++)
		if (durable_dir_path(path, dir, names[i], NULL) == 0)
			unlink(path);
}

/* A store that continues from the copy diverges from the original; senders
 * must see another generation. */
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

/* Does the copied journal begin at or before the next entry of the copied
 * tables?  The copying of a large store can take so long that its first
 * entries are purged meanwhile. */
static int
check_copy(const char *dir, bool *covers, struct err *err)
{
	struct admin_both copy;
	uint64_t reached, first, next;
	int rc;

	if (admin_both_open(&copy, dir, true, err) != 0)
		return -1;
	first = journal_first(copy.journal);
	next = journal_next(copy.journal);
	rc = indexed(copy.tables, &reached, err);
	*covers = rc == 0 && reached < next && first <= reached + 1;
	admin_both_close(&copy);
	if (*covers)
		rc = finish_copy(dir, reached, err);
	admin_remove_locks(dir);
	return rc;
}

/* Also removes the remains of an interrupted attempt. */
int
admin_remove_copy(const char *dir, struct err *err)
{
	static const char *const names[] = { "tables", "tables.new", "journal",
		"journal.new" };
	char path[DURABLE_DIR_PATH_BYTES];

	for (unsigned i = 0; i < 4; i++)
		if (durable_dir_path(path, dir, names[i], err) != 0 ||
		    durable_dir_remove(path, err) != 0)
			return -1;
	if (durable_dir_path(path, dir, "manifest", err) != 0)
		return -1;
	unlink(path);
	return 0;
}

int
admin_copy_both(struct admin_both *both, const char *dir, struct err *err)
{
	char tables[DURABLE_DIR_PATH_BYTES], journal[DURABLE_DIR_PATH_BYTES];

	if (durable_dir_path(tables, dir, "tables", err) != 0 ||
	    durable_dir_path(journal, dir, "journal", err) != 0)
		return -1;
	if (db_copy(both->tables, tables, err) != 0)
		return -1;
	return db_copy(journal_db(both->journal), journal, err);
}

static int
copy_again(struct admin_both *both, const char *dir, struct err *err)
{
	if (admin_remove_copy(dir, err) != 0)
		return -1;
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_set(err, "%s: %s", dir, strerror(errno));
	return admin_copy_both(both, dir, err);
}

/* A command that was killed after its last rename may be given again: what is
 * there then is complete, since only a complete copy gets the final name. */
static int
refuse_existing(const char *to, struct err *err)
{
	char manifest[DURABLE_DIR_PATH_BYTES];

	if (durable_dir_path(manifest, to, "manifest", err) != 0)
		return -1;
	if (access(manifest, F_OK) == 0)
		return err_set(err,
		    "%s is a complete backup already (%s says when it was "
		    "made); for a newer one name a new directory",
		    to, manifest);
	return err_set(err,
	    "%s exists and is not a backup: name a directory that does not "
	    "exist",
	    to);
}

int
admin_backup(const char *store, const char *to, struct err *err)
{
	char temporary[DURABLE_DIR_PATH_BYTES];
	struct admin_both both;
	bool covers = false;
	int rc = 0;

	if (durable_dir_with_suffix(temporary, to, ".new", err) != 0)
		return -1;
	if (access(to, F_OK) == 0)
		return refuse_existing(to, err);
	if (admin_both_open(&both, store, true, err) != 0)
		return -1;
	for (unsigned i = 0; i < BACKUP_TRIES && rc == 0 && !covers; i++) {
		rc = copy_again(&both, temporary, err);
		if (rc == 0)
			rc = check_copy(temporary, &covers, err);
	}
	admin_both_close(&both);
	if (rc == 0 && !covers)
		rc = err_set(err,
		    "backup %s: the journal is purged faster than it is "
		    "copied; raise --journal-keep and --journal-bytes",
		    store);
	if (rc == 0)
		rc = durable_dir_sync(temporary, err);
	if (rc == 0)
		rc = durable_dir_rename(temporary, to, err);
	if (rc == 0) {
		log_info("%s is copied to %s", store, to);
	} else if (admin_remove_copy(temporary, NULL) == 0) {
		/* On a full disk, free the space of the incomplete copy. */
		rmdir(temporary);
	}
	return rc;
}
