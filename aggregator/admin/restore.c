/*
 * admin_restore - replace a store by a backup.
 *
 * The copy is made next to the store, verified row by row, and then replaces
 * the store in one step: after a crash the directory is one or the other, and
 * complete.  While the copy is incomplete it holds a file RESTORING.  A
 * complete one has a file RESTORED instead, which says from which backup it
 * came.  So the command can be given again after it was interrupted at any
 * moment: it removes an unfinished copy, and finishes what is left to do with a
 * finished one.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/log.h"
#include "proto/os/owner/trusted_dir.h"

enum { ASIDE_MAX = 1000 };
static const char mark[] = "RESTORING", done_mark[] = "RESTORED";

struct restore {
	const char *from;
	char store[DURABLE_DIR_PATH_BYTES];
	char copy[DURABLE_DIR_PATH_BYTES];  /* STORE.restoring */
	char aside[DURABLE_DIR_PATH_BYTES]; /* STORE.aside-N */
	bool there;                         /* a store, or another file */
	bool is_finished; /* an interrupted attempt that had done its work */
	struct lockfile old, files, new; /* `files`: of the old store */
};

/* ---- the files that exist ---- */

static int
find_places(struct restore *r, const char *store, struct err *err)
{
	char *real = realpath(store, NULL);
	char suffix[32];
	int rc = 0;

	if (snprintf(r->store, sizeof(r->store), "%s",
		real != NULL ? real : store) >= (int)sizeof(r->store))
		rc = err_set(err, "%s: path is too long", store);
	free(real);
	if (rc != 0 ||
	    durable_dir_with_suffix(r->copy, r->store, ".restoring", err) != 0)
		return -1;
	r->there = !durable_dir_is_empty(r->store);
	for (int i = 1; i <= ASIDE_MAX; i++) {
		snprintf(suffix, sizeof(suffix), ".aside-%d", i);
		if (durable_dir_with_suffix(r->aside, r->store, suffix, err) !=
		    0)
			return -1;
		if (access(r->aside, F_OK) != 0)
			return 0;
	}
	return err_set(err,
	    "%s and all lower numbers exist: remove old set-aside stores",
	    r->aside);
}

/* What the manifest of the backup states. */
static int
read_manifest(
    const char *dir, uint64_t *generation, uint64_t *next, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	FILE *file;
	int format, fields;

	if (durable_dir_path(path, dir, "manifest", err) != 0)
		return -1;
	file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return err_set(err,
		    "%s has no manifest: it is not a complete backup", dir);
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	fields = fscanf(file,
	    "format %9d generation %16" SCNx64 " first %*u next %20" SCNu64,
	    &format, generation, next);
	fclose(file);
	if (fields != 3)
		return err_set(err, "%s is damaged", path);
	if (format != STORE_FORMAT)
		return err_set(err,
		    "%s has format %d; this program supports format %d", dir,
		    format, STORE_FORMAT);
	return 0;
}

/* ---- the copy ---- */

static bool
has_file(const char *dir, const char *name)
{
	char path[DURABLE_DIR_PATH_BYTES];

	return durable_dir_path(path, dir, name, NULL) == 0 &&
	       access(path, F_OK) == 0;
}

/* Remove the remains of an interrupted attempt, but never a complete store. */
static int
remove_unfinished(const struct restore *r, struct err *err)
{
	if (durable_dir_is_empty(r->copy)) {
		rmdir(r->copy);
		return 0;
	}
	if (!has_file(r->copy, mark) && !has_file(r->copy, done_mark))
		return err_set(err,
		    "%s is a complete store, left by an interrupted restore: "
		    "move it away",
		    r->copy);
	if (admin_remove_copy(r->copy, err) != 0)
		return -1;
	return durable_dir_remove(r->copy, err);
}

static int
begin_copy(const struct restore *r, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	int fd;

	if (remove_unfinished(r, err) != 0 ||
	    durable_dir_path(path, r->copy, mark, err) != 0)
		return -1;
	if (mkdir(r->copy, 0700) != 0)
		return err_set(err, "%s: %s", r->copy, strerror(errno));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	close(fd);
	return durable_dir_sync(r->copy, err);
}

static int
copy_backup(const struct restore *r, struct err *err)
{
	uint64_t generation, next;
	struct admin_both both;
	int rc = 0;

	if (read_manifest(r->from, &generation, &next, err) != 0 ||
	    admin_both_open(&both, r->from, true, err) != 0)
		return -1;
	if (journal_generation(both.journal) != generation ||
	    journal_next(both.journal) < next)
		rc = err_set(err,
		    "%s does not match its manifest: generation %016" PRIx64
		    ", next %" PRIu64,
		    r->from, journal_generation(both.journal),
		    journal_next(both.journal));
	if (rc == 0)
		rc = admin_copy_both(&both, r->copy, err);
	admin_both_close(&both);
	return rc;
}

/* Senders with acknowledged batches that the copy lacks must see another
 * generation. */
static int
renew(const struct restore *r, struct err *err)
{
	const struct journal_options how = { .allow_network = true };
	struct journal *journal;
	int rc;

	if (journal_open(&journal, r->copy, &how, err) != 0)
		return -1;
	rc = journal_renew(journal, err);
	journal_close(&journal);
	return rc == 0 ? admin_note_restore(r->copy, err) : -1;
}

/* RESTORED: the generation of the backup, and of the next entry that the store
 * will have.  Synced with the directory, before RESTORING goes. */
static int
put_done_mark(const struct restore *r, struct err *err)
{
	const struct journal_options how = { .allow_network = true,
		.read_only = true };
	char path[DURABLE_DIR_PATH_BYTES];
	uint64_t generation, next;
	struct journal *journal;
	FILE *file;
	int rc;

	if (read_manifest(r->from, &generation, &next, err) != 0 ||
	    durable_dir_path(path, r->copy, done_mark, err) != 0 ||
	    journal_open(&journal, r->copy, &how, err) != 0)
		return -1;
	next = journal_next(journal);
	journal_close(&journal);
	file = fopen(path, "we");
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	fprintf(file, "generation %016" PRIx64 " next %" PRIu64 "\n",
	    generation, next);
	rc = fclose(file);
	if (rc != 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return durable_dir_sync(path, err) != 0
		   ? -1
		   : durable_dir_sync(r->copy, err);
}

/* Is the store what a restore of this backup made, and has it stored nothing
 * since? */
static bool
is_restored(const struct restore *r)
{
	const struct journal_options how = { .allow_network = true,
		.read_only = true };
	uint64_t generation, next, made_of = 0, made_next = 0;
	char path[DURABLE_DIR_PATH_BYTES];
	struct journal *journal;
	int fields = 0;
	FILE *file;

	if (durable_dir_path(path, r->store, done_mark, NULL) != 0 ||
	    read_manifest(r->from, &generation, &next, NULL) != 0)
		return false;
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	fields = fscanf(file, "generation %16" SCNx64 " next %20" SCNu64,
	    &made_of, &made_next);
	fclose(file);
	if (fields != 2 || made_of != generation ||
	    journal_open(&journal, r->store, &how, NULL) != 0)
		return false;
	next = journal_next(journal);
	journal_close(&journal);
	return next == made_next;
}

static int
make_copy(const struct restore *r, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	int rc = copy_backup(r, err);

	if (rc == 0)
		rc = renew(r, err);
	if (rc == 0 && admin_verify(r->copy, err) != 0) {
		err->code = ERR_FAILED; /* what is damaged is not restored */
		rc = -1;
	}
	if (rc == 0)
		rc = put_done_mark(r, err);
	if (rc == 0)
		rc = durable_dir_path(path, r->copy, mark, err);
	if (rc == 0 && unlink(path) != 0)
		rc = err_set(err, "%s: %s", path, strerror(errno));
	admin_remove_locks(r->copy);
	if (rc == 0)
		return durable_dir_sync(r->copy, err);
	/* On a full disk, or for a bad copy, free its space. */
	if (admin_remove_copy(r->copy, NULL) == 0)
		durable_dir_remove(r->copy, NULL);
	return rc;
}

/* ---- installing the copy ---- */

/* The same lock; only the path of its file has changed. */
static void
lock_moved(struct lockfile *lockfile, const char *dir, const char *name)
{
	char path[DURABLE_DIR_PATH_BYTES];

	if (lockfile->path == NULL ||
	    durable_dir_path(path, dir, name, NULL) != 0)
		return;
	free(lockfile->path);
	lockfile->path = memory_string(path);
}

static bool
is_for_another(const struct restore *r, struct stat *st)
{
	return geteuid() == 0 && stat(r->store, st) == 0 && st->st_uid != 0;
}

/* Root may replace the store of a service, in a directory of root. */
static int
check_owner(const struct restore *r, struct err *err)
{
	struct stat st;

	if (is_for_another(r, &st))
		return trusted_dir_own_parent(r->store, err);
	return r->there ? trusted_dir_own(r->store, err) : 0;
}

/* Directories after what is in them: nobody else can reach it before. */
static int
give_to_owner(const struct restore *r, struct err *err)
{
	char *const paths[] = { (char *)(uintptr_t)r->copy, NULL };
	const FTSENT *entry;
	struct stat st;
	int rc = 0;
	FTS *tree;

	if (!is_for_another(r, &st))
		return 0;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (tree == NULL)
		return err_set(err, "%s: %s", r->copy, strerror(errno));
	while (rc == 0 && (entry = fts_read(tree)) != NULL)
		if (entry->fts_info != FTS_D &&
		    lchown(entry->fts_path, st.st_uid, st.st_gid) != 0)
			rc = err_set(
			    err, "%s: %s", entry->fts_path, strerror(errno));
	fts_close(tree);
	return rc;
}

/* Nobody may open either directory before both have their names. */
static int
install(struct restore *r, struct err *err)
{
	if (admin_lock(&r->new, r->copy, err) != 0 ||
	    give_to_owner(r, err) != 0)
		return -1;
	if (!r->there) {
		if (durable_dir_rename(r->copy, r->store, err) != 0)
			return -1;
		lock_moved(&r->new, r->store, "LOCK");
		log_info("%s is restored from %s", r->store, r->from);
		return 0;
	}
	if (durable_dir_exchange(r->store, r->copy, err) != 0)
		return -1;
	lock_moved(&r->new, r->store, "LOCK");
	lock_moved(&r->old, r->copy, "LOCK");
	lock_moved(&r->files, r->copy, "ADMIN");
	if (durable_dir_rename(r->copy, r->aside, err) != 0)
		return -1;
	lock_moved(&r->old, r->aside, "LOCK");
	lock_moved(&r->files, r->aside, "ADMIN");
	log_info("%s is restored from %s; the previous store is now %s",
	    r->store, r->from, r->aside);
	return 0;
}

/* A restore was interrupted after the two directories had changed their names:
 * what has the name of the copy is the replaced store. */
static int
finish(struct restore *r, struct err *err)
{
	if (!has_file(r->store, done_mark) || durable_dir_is_empty(r->copy) ||
	    has_file(r->copy, mark) || has_file(r->copy, done_mark))
		return 0;
	if (durable_dir_rename(r->copy, r->aside, err) != 0)
		return -1;
	log_info("a restore was interrupted: the store that it replaced is "
		 "now %s",
	    r->aside);
	r->is_finished = true;
	return find_places(r, r->store, err);
}

static int
prepare(struct restore *r, bool set_aside, bool allow_network, struct err *err)
{
	if (r->there && !set_aside)
		return err_set(err, "%s exists; --set-aside renames it to %s",
		    r->store, r->aside);
	if (check_owner(r, err) != 0)
		return -1;
	if (r->there &&
	    admin_lock_to_replace(&r->old, &r->files, r->store, err) != 0)
		return -1;
	/* Create it with its parents; it is empty, so rename replaces it. */
	if (!r->there && instance_make_dir(r->store, err) != 0)
		return -1;
	return allow_network ? 0 : durable_dir_refuse_network(r->store, err);
}

int
admin_restore(const char *store, const char *from, bool set_aside,
    bool allow_network, struct err *err)
{
	struct restore r = { .from = from };
	int rc = find_places(&r, store, err);

	if (rc == 0)
		rc = finish(&r, err);
	if (rc == 0 && (r.is_finished || !set_aside) && is_restored(&r)) {
		log_info("%s is restored from %s", r.store, from);
		return 0;
	}
	if (rc == 0)
		rc = prepare(&r, set_aside, allow_network, err);
	if (rc == 0)
		rc = begin_copy(&r, err);
	if (rc == 0)
		rc = make_copy(&r, err);
	if (rc == 0)
		rc = install(&r, err);
	lockfile_release(&r.new);
	lockfile_release(&r.files);
	lockfile_release(&r.old);
	return rc;
}
