/*
 * db_copy - measure and copy an environment.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/env.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"

/* LMDB keeps its free list in table 0: one row per transaction, whose value is
 * the count of pages and their numbers. */
enum { FREE_LIST = 0 };

static int
free_pages(MDB_txn *txn, uint64_t *pages)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	size_t count;
	int rc;

	*pages = 0;
	rc = mdb_cursor_open(txn, FREE_LIST, &cursor);
	if (rc != 0)
		return rc;
	while ((rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
		if (v.mv_size < sizeof(count))
			continue;
		memcpy(&count, v.mv_data, sizeof(count));
		*pages += count;
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int
measure(struct db *db, MDB_txn *txn, struct db_status *status)
{
	MDB_envinfo info;
	MDB_stat stat;
	uint64_t pages;
	int rc;

	rc = mdb_env_info(db->shared->env, &info);
	if (rc == 0)
		rc = mdb_env_stat(db->shared->env, &stat);
	if (rc == 0)
		rc = free_pages(txn, &pages);
	if (rc != 0)
		return rc;
	status->map_bytes = info.me_mapsize;
	status->free_bytes = pages * stat.ms_psize;
	status->used_bytes = (info.me_last_pgno + 1) * stat.ms_psize;
	status->used_bytes -= status->free_bytes < status->used_bytes
				  ? status->free_bytes
				  : status->used_bytes;
	status->readers = info.me_numreaders;
	for (uint32_t i = 0; i < db->tables; i++) {
		rc = mdb_stat(txn, db->shared->dbi[db->dbi_index[i]], &stat);
		if (rc != 0)
			return rc;
		status->rows[i] = stat.ms_entries;
		status->bytes[i] = (stat.ms_branch_pages + stat.ms_leaf_pages +
				       stat.ms_overflow_pages) *
				   stat.ms_psize;
	}
	return 0;
}

int
db_status(struct db *db, struct db_status *status, struct err *err)
{
	struct stat st;
	MDB_txn *txn;
	int fd, rc;

	memset(status, 0, sizeof(*status));
	status->damaged = atomic_load(&db->shared->damaged);
	rc = db_env_begin(db->shared, false, &txn);
	if (rc == 0) {
		rc = measure(db, txn, status);
		db_env_end_read(db->shared, txn);
	}
	/* Use LMDB's own descriptor: opening the file again and closing it
	 * would drop its locks. */
	if (rc == 0)
		rc = mdb_env_get_fd(db->shared->env, &fd);
	if (rc == 0 && fstat(fd, &st) == 0)
		status->file_bytes = (uint64_t)st.st_blocks * 512;
	return rc == 0
		   ? 0
		   : err_set(err, "%s: status: %s", db->path, mdb_strerror(rc));
}

static int
copy_into(struct db *db, const char *temporary, struct err *err)
{
	char file[DURABLE_DIR_PATH_BYTES];
	int rc;

	if (mkdir(temporary, 0700) != 0)
		return err_set(err, "%s: %s", temporary, strerror(errno));
	rc = mdb_env_copy2(db->shared->env, temporary, MDB_CP_COMPACT);
	if (rc != 0)
		return err_set(err, "copy %s to %s: %s", db->path, temporary,
		    mdb_strerror(rc));
	if (durable_dir_path(file, temporary, "data.mdb", err) != 0 ||
	    durable_dir_sync(file, err) != 0)
		return -1;
	return durable_dir_sync(temporary, err);
}

int
db_copy(struct db *db, const char *to, struct err *err)
{
	char temporary[DURABLE_DIR_PATH_BYTES];

	if (strlen(to) + sizeof(".new") > sizeof(temporary))
		return err_set(err, "%s: path is too long", to);
	if (access(to, F_OK) == 0)
		return err_set(err, "%s: %s", to, strerror(EEXIST));
	strcpy(temporary, to);
	strcat(temporary, ".new");
	if (durable_dir_remove(temporary, err) != 0)
		return -1;
	if (copy_into(db, temporary, err) != 0) {
		/* On a full disk, free the space of the incomplete copy. */
		durable_dir_remove(temporary, NULL);
		return -1;
	}
	return durable_dir_rename(temporary, to, err);
}
