/*
 * db_env - an LMDB environment: its map, its tables, its format.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/env.h"

#include "proto/hash/crc32c.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	FULL_BLOCKS = 64, /* with less free space the disk counts as full */
};
#define MAP_BYTES_DEFAULT (UINT64_C(1) << 40)
#define MAP_BYTES_MIN     (UINT64_C(1) << 30)

bool
db_env_disk_is_full(const struct db *db)
{
	struct statvfs fs;
	struct rlimit limit;
	struct stat st;
	int fd;

	if (statvfs(db->path, &fs) == 0 && fs.f_bavail < FULL_BLOCKS)
		return true;
	return mdb_env_get_fd(db->shared->env, &fd) == 0 &&
	       fstat(fd, &st) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	       (rlim_t)st.st_size >= limit.rlim_cur;
}

/* The option, else $POOLSCOPE_MAP_BYTES; 0: not given. */
static uint64_t
wanted_map_bytes(const struct db_options *options)
{
	const char *word = getenv("POOLSCOPE_MAP_BYTES");
	uint64_t bytes;

	if (options->map_bytes > 0)
		return options->map_bytes;
	if (word != NULL &&
	    number_parse_bytes(text_of(word), &bytes, NULL) == 0)
		return bytes;
	return 0;
}

/* bytes 0: the size of the file. */
static int
try_open(MDB_env **env, const char *path, uint64_t bytes, bool read_only)
{
	int rc = mdb_env_create(env);

	if (rc != 0)
		return rc;
	rc = mdb_env_set_maxdbs(*env, DB_TABLES_MAX);
	if (rc == 0)
		rc = mdb_env_set_maxreaders(*env, DB_READERS_MAX);
	if (rc == 0 && bytes > 0)
		rc = mdb_env_set_mapsize(*env, bytes);
	/* Without thread-local reader slots a thread may hold several
	 * snapshots; every other flag costs durability or safety. */
	if (rc == 0)
		rc = mdb_env_open(
		    *env, path, MDB_NOTLS | (read_only ? MDB_RDONLY : 0), 0600);
	if (rc == 0)
		return 0;
	mdb_env_close(*env);
	*env = NULL;
	return rc;
}

/* If address space is limited, as under valgrind, try a smaller map, unless
 * this size was requested. */
int
db_env_open(MDB_env **env, const char *path, const struct db_options *options,
    struct err *err)
{
	uint64_t wanted = wanted_map_bytes(options), bytes = wanted;
	int rc;

	if (wanted == 0 && !options->read_only && !options->keep_map)
		bytes = MAP_BYTES_DEFAULT;
	rc = try_open(env, path, bytes, options->read_only);
	for (bytes = MAP_BYTES_DEFAULT / 8;
	     wanted == 0 && (rc == ENOMEM || rc == EINVAL) &&
	     bytes >= MAP_BYTES_MIN;
	     bytes /= 8)
		rc = try_open(env, path, bytes, options->read_only);
	if (rc == 0)
		return 0;
	return err_set(err, "%s: %s%s", path, mdb_strerror(rc),
	    rc == ENOMEM || rc == EINVAL
		? " (can the map be this large? see --map-bytes)"
		: "");
}

/* The format is an ordinary row of the table "meta". */
unsigned
db_env_meta(const struct db_options *options)
{
	unsigned i = 0;

	while (options->tables[i] != NULL &&
	       strcmp(options->tables[i], "meta") != 0)
		i++;
	assert(options->tables[i] != NULL);
	return i;
}

static void
add_table(struct db_env *shared, const char *name, MDB_dbi dbi)
{
	assert(shared->tables < DB_TABLES_MAX);
	shared->names[shared->tables] = memory_string(name);
	shared->dbi[shared->tables++] = dbi;
}

int
db_env_open_tables(struct db_env *shared, const char *path,
    const struct db_options *options, unsigned flags, struct err *err)
{
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc;

	rc = db_env_begin(shared, flags & MDB_CREATE, &txn);
	if (rc != 0)
		return db_env_refuse(path, "open", rc, err);
	for (unsigned i = 0; options->tables[i] != NULL; i++) {
		rc = mdb_dbi_open(txn, options->tables[i], flags, &dbi);
		if (rc != 0) {
			mdb_txn_abort(txn);
			db_env_end(shared);
			return err_set(err,
			    "%s: no table \"%s\" (%s): not a store, or not "
			    "this part of it",
			    path, options->tables[i], mdb_strerror(rc));
		}
		add_table(shared, options->tables[i], dbi);
	}
	/* Commit also after reading: only this makes the handles permanent. */
	rc = mdb_txn_commit(txn);
	db_env_end(shared);
	return rc == 0 ? 0 : err_set(err, "%s: %s", path, mdb_strerror(rc));
}

void
db_env_free(struct db_env *shared)
{
	db_env_free_spare(shared);
	mdb_env_close(shared->env);
	for (uint32_t i = 0; i < shared->tables; i++)
		free(shared->names[i]);
	free(shared);
}

/* Check this before anything else: a store of another version may have other
 * tables. */
int
db_env_check_format(struct db_env *shared, const char *path,
    const struct db_options *options, struct err *err)
{
	static const char name[] = "format";
	/* LMDB takes void *, and does not write through it. */
	MDB_val key = { strlen(name), (void *)(uintptr_t)name }, value;
	uint32_t format = 0, kept, crc;
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc;

	rc = db_env_begin(shared, false, &txn);
	if (rc != 0)
		return db_env_refuse(path, "open", rc, err);
	rc = mdb_dbi_open(txn, options->tables[db_env_meta(options)], 0, &dbi);
	if (rc == 0)
		rc = mdb_get(txn, dbi, &key, &value);
	if (rc == 0 && value.mv_size == sizeof(format) + sizeof(kept)) {
		crc = crc32c(crc32c(0, name, strlen(name)), value.mv_data,
		    sizeof(format));
		memcpy(&format, value.mv_data, sizeof(format));
		memcpy(&kept, (char *)value.mv_data + sizeof(format),
		    sizeof(kept));
		if (kept != crc)
			format = 0;
	}
	db_env_end_read(shared, txn);
	if (format == 0)
		return err_set(
		    err, "%s: not a store, or its format cannot be read", path);
	if (format != options->format)
		return err_set(err,
		    "%s has format %u; this program supports format %u and "
		    "does not change it",
		    path, format, options->format);
	return 0;
}

enum { RESIDENT_BYTES = 2 << 20 };

void
db_resident_note(struct db *db, const void *value, size_t bytes)
{
	uintptr_t from = (uintptr_t)value;
	uint32_t moves = atomic_load(&db->shared->moves);

	/* The old address range may have been reused. */
	if (db->moves != moves) {
		db->moves = moves;
		db->touched_bytes = 0;
	}
	if (db->touched_bytes == 0 || from < db->touched_from)
		db->touched_from = from;
	if (db->touched_bytes == 0 || from + bytes > db->touched_to)
		db->touched_to = from + bytes;
	db->touched_bytes += bytes;
}

void
db_resident_drop(struct db *db)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = db->touched_from & ~(page - 1);

	if (db->touched_bytes < RESIDENT_BYTES ||
	    db->moves != atomic_load(&db->shared->moves))
		return;
	db->touched_bytes = 0;
	/* A shared file mapping can drop its pages without loss; a failure is
	 * harmless. */
	(void)madvise((void *)from, db->touched_to - from, MADV_DONTNEED);
}
