/*
 * db_env - an LMDB environment and its map.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/env.h"

#include "aggregator/db/pages/map_guard.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/file_io.h"
#include "proto/os/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	FULL_BLOCKS = 64, /* with less free space the disk counts as full */
	PROBE_BYTES = 1 << 16,
};
#define MAP_BYTES_DEFAULT (UINT64_C(1) << 40)
#define MAP_BYTES_MIN     (UINT64_C(1) << 30)

int
db_env_limit(const struct db *db)
{
	struct statvfs fs;
	struct rlimit limit;
	struct stat st;
	int fd;

	if (statvfs(db->path, &fs) == 0 && fs.f_bavail < FULL_BLOCKS)
		return ENOSPC;
	if (mdb_env_get_fd(db->shared->env, &fd) != 0 || fstat(fd, &st) != 0)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    (rlim_t)st.st_size >= limit.rlim_cur)
		return EFBIG;
	/* A quota shows only when blocks are asked for. */
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, PROBE_BYTES) != 0 &&
	    file_io_is_full(errno))
		return errno;
	return 0;
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
try_open(MDB_env **env, const char *path, uint64_t bytes,
    const struct db_options *options)
{
	unsigned flags = (options->read_only ? MDB_RDONLY : 0) |
			 (options->temporary ? MDB_NOSYNC : 0);
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
		rc = mdb_env_open(*env, path, MDB_NOTLS | flags, 0600);
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
	rc = try_open(env, path, bytes, options);
	for (bytes = MAP_BYTES_DEFAULT / 8;
	     wanted == 0 && (rc == ENOMEM || rc == EINVAL) &&
	     bytes >= MAP_BYTES_MIN;
	     bytes /= 8)
		rc = try_open(env, path, bytes, options);
	if (rc == 0)
		return 0;
	return err_set(err, "%s: %s%s", path, mdb_strerror(rc),
	    rc == ENOMEM || rc == EINVAL
		? " (can the map be this large? see --map-bytes)"
		: "");
}

void
db_env_free(struct db_env *shared)
{
	held_file_drop(&shared->file);
	held_file_drop(&shared->locks);
	db_env_free_spare(shared);
	map_guard_remove(&shared->unreadable);
	if (shared->env != NULL)
		mdb_env_close(shared->env);
	db_marks_free(&shared->marks);
	db_damage_list_free(&shared->damage);
	for (uint32_t i = 0; i < shared->tables; i++)
		free(shared->names[i]);
	free(shared);
}

enum { RESIDENT_BYTES = 2 << 20 };

void
db_resident_note(struct db *db, const void *value, size_t bytes)
{
	uintptr_t from = (uintptr_t)value;
	uint32_t moves = atomic_load(&db->shared->moves);

	/* The map has moved: the old address range may have another use. */
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
