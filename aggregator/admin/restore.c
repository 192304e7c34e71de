/*
 * admin_restore - a backup takes the place of a store.
 *
 * The copy is made beside the store, looked at row by row, and then takes its
 * place in one step: a crash leaves the one or the other, and whole.  As long
 * as the copy is not whole it holds a file RESTORING, so that what a crash
 * left may be removed, and a whole store never is.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/ingest/restore_gaps.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { ASIDE_MAX = 1000 };
static const char mark[] = "RESTORING";

struct restore {
	const char *from;
	char store[DURABLE_DIR_PATH_BYTES];
	char copy[DURABLE_DIR_PATH_BYTES];  /* STORE.restoring */
	char aside[DURABLE_DIR_PATH_BYTES]; /* STORE.aside-N */
	bool there;                         /* a store, or something else */
	struct lockfile old, moves, new;    /* moves: of the old one */
};

/* ---- what there is ---- */

static bool
is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (dir == NULL)
		return errno == ENOENT;
	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0;
	closedir(dir);
	return empty;
}

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
	    durable_dir_beside(r->copy, r->store, ".restoring", err) != 0)
		return -1;
	r->there = !is_empty(r->store);
	for (int i = 1; i <= ASIDE_MAX; i++) {
		snprintf(suffix, sizeof(suffix), ".aside-%d", i);
		if (durable_dir_beside(r->aside, r->store, suffix, err) != 0)
			return -1;
		if (access(r->aside, F_OK) != 0)
			return 0;
	}
	return err_set(
	    err, "%s is there, and all before it: remove some", r->aside);
}

/* What the backup says of itself. */
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
		    "%s has no manifest: it is not a backup that was finished",
		    dir);
	if (file == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	fields = fscanf(file,
	    "format %9d generation %16" SCNx64 " first %*u next %20" SCNu64,
	    &format, generation, next);
	fclose(file);
	if (fields != 3)
		return err_set(err, "%s is damaged", path);
	if (format != STORE_FORMAT)
		return err_set(err, "%s has format %d; this program knows %d",
		    dir, format, STORE_FORMAT);
	return 0;
}

/* ---- the copy ---- */

/* What an attempt that was interrupted has left goes; a whole store stays. */
static int
remove_unfinished(const struct restore *r, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];

	if (is_empty(r->copy)) {
		rmdir(r->copy);
		return 0;
	}
	if (durable_dir_path(path, r->copy, mark, err) != 0)
		return -1;
	if (access(path, F_OK) != 0)
		return err_set(err,
		    "%s is a whole store that an interrupted restore has left: "
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
		    "%s is not what its manifest says: generation %016" PRIx64
		    ", next %" PRIu64,
		    r->from, journal_generation(both.journal),
		    journal_next(both.journal));
	if (rc == 0)
		rc = admin_copy_both(&both, r->copy, err);
	admin_both_close(&both);
	return rc;
}

/* What the store that goes has and the copy has not, its senders are asked
 * for.  One that cannot be read is no reason not to restore. */
static int
carry(const struct restore *r, struct journal *to, struct err *err)
{
	const struct journal_options how = { .allow_network = true,
		.read_only = true };
	struct err why = { 0 };
	struct restore_gaps_sum sum;
	struct journal *from;
	int rc;

	if (journal_open(&from, r->store, &how, &why) != 0) {
		log_warn("%s cannot be read (%s): what senders were told since "
			 "the backup only they know",
		    r->store, why.text);
		return 0;
	}
	rc = restore_gaps_carry(to, from, clock_wall_ns(), &sum, err);
	journal_close(&from);
	if (rc == 0 && sum.damaged > 0)
		log_warn("%" PRIu64
			 " streams of %s are damaged: what it had of "
			 "them only their senders know",
		    sum.damaged, r->store);
	if (rc == 0 && sum.streams > 0)
		log_info("%" PRIu64 " batches of %" PRIu64
			 " streams came after "
			 "the backup: their senders are asked for them, what "
			 "nobody brings becomes gaps (--restore-wait)",
		    sum.batches, sum.streams);
	return rc;
}

/* Who was acknowledged what the copy lacks is to see that it is another. */
static int
renew(const struct restore *r, struct err *err)
{
	const struct journal_options how = { .allow_network = true };
	struct journal *journal;
	int rc;

	if (journal_open(&journal, r->copy, &how, err) != 0)
		return -1;
	rc = journal_renew(journal, err);
	if (rc == 0 && r->there)
		rc = carry(r, journal, err);
	journal_close(&journal);
	return rc;
}

static int
make_copy(const struct restore *r, struct err *err)
{
	char path[DURABLE_DIR_PATH_BYTES];
	int rc = copy_backup(r, err);

	if (rc == 0)
		rc = renew(r, err);
	if (rc == 0)
		rc = admin_verify(r->copy, err);
	if (rc == 0)
		rc = durable_dir_path(path, r->copy, mark, err);
	if (rc == 0 && unlink(path) != 0)
		rc = err_set(err, "%s: %s", path, strerror(errno));
	admin_remove_locks(r->copy);
	if (rc == 0)
		return durable_dir_sync(r->copy, err);
	/* A copy that has no room, or is bad, should not keep what it took. */
	if (admin_remove_copy(r->copy, NULL) == 0)
		durable_dir_remove(r->copy, NULL);
	return rc;
}

/* ---- its place ---- */

/* The lock is the same, its file has another path. */
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

/* Nobody may open the one or the other before each has its name. */
static int
take_place(struct restore *r, struct err *err)
{
	if (admin_lock(&r->new, r->copy, err) != 0)
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
	lock_moved(&r->moves, r->copy, "MOVE");
	if (durable_dir_rename(r->copy, r->aside, err) != 0)
		return -1;
	lock_moved(&r->old, r->aside, "LOCK");
	lock_moved(&r->moves, r->aside, "MOVE");
	log_info("%s is restored from %s; what was there is %s", r->store,
	    r->from, r->aside);
	return 0;
}

static int
prepare(struct restore *r, bool set_aside, bool allow_network, struct err *err)
{
	if (r->there && !set_aside)
		return err_set(err,
		    "%s: a store is there; with --set-aside it becomes %s",
		    r->store, r->aside);
	if (r->there && (admin_lock(&r->old, r->store, err) != 0 ||
			    admin_lock_moves(&r->moves, r->store, err) != 0))
		return -1;
	/* With its parents; as it is empty the copy takes its name. */
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
		rc = prepare(&r, set_aside, allow_network, err);
	if (rc == 0)
		rc = begin_copy(&r, err);
	if (rc == 0)
		rc = make_copy(&r, err);
	if (rc == 0)
		rc = take_place(&r, err);
	lockfile_release(&r.new);
	lockfile_release(&r.moves);
	lockfile_release(&r.old);
	return rc;
}
