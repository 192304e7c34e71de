/*
 * db_copy - measure and copy an environment.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"

static int
measure(struct db *db, MDB_txn *txn, const struct snapshot *snapshot,
    struct db_status *status)
{
	MDB_envinfo info;
	MDB_stat stat;
	uint64_t pages;
	int rc;

	rc = mdb_env_info(db->shared->env, &info);
	if (rc == 0)
		rc = mdb_env_stat(db->shared->env, &stat);
	if (rc != 0)
		return rc;
	/* If the list is damaged, count what can be read. */
	snapshot_free_list(snapshot, 0, &pages);
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
	struct snapshot snapshot;
	struct statvfs disk;
	struct stat st;
	MDB_txn *txn;
	int fd, rc;

	memset(status, 0, sizeof(*status));
	status->disk_bytes = UINT64_MAX;
	if (db->source != NULL)
		return 0;
	db_damage_list_count(
	    db->shared->damage, &status->damaged, &status->damaged_rows);
	rc = db_env_begin(db->shared, false, &txn, &snapshot);
	if (rc == 0) {
		rc = measure(db, txn, &snapshot, status);
		db_env_end_read(db->shared, txn);
	}
	/* Use LMDB's own descriptor: opening the file again and closing it
	 * would drop its locks. */
	if (rc == 0)
		rc = mdb_env_get_fd(db->shared->env, &fd);
	if (rc == 0 && fstat(fd, &st) == 0)
		status->file_bytes = (uint64_t)st.st_blocks * 512;
	if (rc == 0 && fstatvfs(fd, &disk) == 0)
		status->disk_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	return rc == 0 ? 0 : db_env_refuse(db->path, "status", rc, err);
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
	int64_t damaged;

	if (strlen(to) + sizeof(".new") > sizeof(temporary))
		return err_set(err, "%s: path is too long", to);
	if (access(to, F_OK) == 0)
		return err_set(err, "%s: %s", to, strerror(EEXIST));
	strcpy(temporary, to);
	strcat(temporary, ".new");
	damaged = db_verify_pages(db, NULL, NULL, err);
	if (damaged < 0)
		return -1;
	/* LMDB copies each page as it is, and trusts it. */
	if (damaged > 0)
		return err_set(err,
		    "%s: %" PRId64 " pages are damaged, so no copy is made; "
		    "poolscope-admin verify lists what is lost",
		    db->path, damaged);
	if (durable_dir_remove(temporary, err) != 0)
		return -1;
	if (copy_into(db, temporary, err) != 0) {
		/* On a full disk, free the space of the incomplete copy. */
		durable_dir_remove(temporary, NULL);
		return -1;
	}
	return durable_dir_rename(temporary, to, err);
}
