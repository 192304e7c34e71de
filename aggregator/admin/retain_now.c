/*
 * retain_now - say that the clock is right, so that records are deleted by age
 * again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/admin_private.h"

#include <signal.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/retention/store_clock.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* Notify the aggregator of the store, if one is running: another process has
 * changed something in it. */
static void
wake(const char *store)
{
	char path[DURABLE_DIR_PATH_BYTES];
	long pid;

	if (durable_dir_path(path, store, "LOCK", NULL) != 0)
		return;
	pid = lockfile_holder(path);
	if (pid > 0)
		kill((pid_t)pid, SIGHUP);
}

static int
confirm(struct db *tables, int64_t now_ns, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(tables, true, &txn, err) != 0)
		return -1;
	store_clock_confirm(txn, now_ns);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

int
admin_retain_now(const char *store, struct err *err)
{
	struct db_options how = { .keep_map = true, .allow_network = true };
	struct lockfile files = { 0 };
	int64_t now_ns = clock_wall_ns();
	char when[CLOCK_TEXT_BYTES];
	struct db *tables = NULL;
	int rc = -1;

	/* Nobody may replace the tables meanwhile. */
	if (admin_lock_files(&files, store, err) != 0)
		return -1;
	if (tables_open(&tables, store, &how, err) == 0)
		rc = confirm(tables, now_ns, err);
	db_close(&tables);
	lockfile_release(&files);
	if (rc != 0)
		return -1;
	log_info("%s: the clock is right: %s; records are deleted by age",
	    store, clock_text(when, now_ns, 0));
	wake(store);
	return 0;
}
