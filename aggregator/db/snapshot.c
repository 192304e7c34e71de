/*
 * db_snapshot - a transaction's pages: where they are, and whether the file
 * has them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/db/pages/map_guard.h"

enum {
	NAMES_TABLE = 1, /* LMDB's number of the table of tables */
	ATTEMPTS = 16,   /* while a writer changes the headers */
};

const char *
snapshot_sentence(int rc)
{
	switch (rc) {
	case SNAPSHOT_CUT:
		return "data.mdb was cut: it ends before pages that are in "
		       "use; restore a backup (poolscope-admin restore)";
	case SNAPSHOT_HEADER:
		return "data.mdb is damaged: its header is not valid; restore "
		       "a backup (poolscope-admin restore)";
	case SNAPSHOT_NAMES:
		return "data.mdb is damaged: the page that lists its tables is "
		       "not valid; restore a backup (poolscope-admin restore)";
	case SNAPSHOT_FREE_LIST:
		return "data.mdb is damaged: its list of free pages is not "
		       "valid, so nothing can be written; readers still work. "
		       "Run poolscope-admin verify, then restore a backup";
	case SNAPSHOT_UNREADABLE:
		return "data.mdb could not be read while it was in use: it was "
		       "cut, or the disk has bad blocks";
	default: return NULL;
	}
}

/* ---- before the file is mapped ---- */

static bool
read_meta(int fd, unsigned index, uint32_t page_bytes, struct page_meta *meta)
{
	unsigned char bytes[PAGE_META_BYTES];

	return pread(fd, bytes, sizeof(bytes), (off_t)index * page_bytes) ==
		   (ssize_t)sizeof(bytes) &&
	       page_get_meta(bytes, index, meta);
}

/* LMDB writes one header a commit, so the numbers of their transactions are
 * neighbours.  In a file that is in use they can change between two reads. */
static bool
check_metas(int fd, struct page_meta *newer)
{
	struct page_meta metas[PAGE_METAS];
	uint64_t a, b;

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (!read_meta(fd, 0, 0, &metas[0]) ||
		    !read_meta(fd, 1, metas[0].page_bytes, &metas[1]))
			continue;
		a = metas[0].txn;
		b = metas[1].txn;
		*newer = metas[a < b];
		if (metas[0].page_bytes == metas[1].page_bytes &&
		    (a < b ? b - a : a - b) <= 1)
			return true;
	}
	return false;
}

int
snapshot_check_file(const char *path, struct err *err)
{
	char file[DURABLE_DIR_PATH_BYTES];
	struct page_meta meta;
	struct stat st;
	int fd, rc = 0;

	if (durable_dir_path(file, path, "data.mdb", err) != 0)
		return -1;
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, "%s: %s", file, strerror(errno));
	if (fstat(fd, &st) != 0)
		rc = err_set(err, "%s: %s", file, strerror(errno));
	else if (st.st_size < PAGE_METAS * PAGE_BYTES_LEAST)
		rc = err_set(
		    err, "%s: %s", path, snapshot_sentence(SNAPSHOT_CUT));
	else if (!check_metas(fd, &meta))
		rc = err_set(
		    err, "%s: %s", path, snapshot_sentence(SNAPSHOT_HEADER));
	/* The file is not open in this process yet, so no lock is lost. */
	close(fd);
	return rc;
}

/* ---- where the map is ---- */

/* LMDB does not say where it has mapped the file.  A key of the table of tables
 * lies in the map, at a place of a page that is known. */
static int
find_map(struct db_env *env, MDB_txn *txn, const struct page_meta *meta)
{
	unsigned char page[PAGE_BYTES_MOST];
	const struct page_limits limits = { meta->page_bytes, meta->last + 1 };
	MDB_cursor *cursor;
	MDB_envinfo info;
	MDB_val key, value;
	size_t at;
	int rc, fd;

	if (meta->names.depth != 1 || mdb_env_get_fd(env->env, &fd) != 0)
		return SNAPSHOT_NAMES;
	if (pread(fd, page, limits.page_bytes,
		(off_t)(meta->names.root * limits.page_bytes)) !=
	    (ssize_t)limits.page_bytes)
		return SNAPSHOT_CUT;
	if (page_check(page, meta->names.root, &limits, false) != PAGE_LEAF)
		return SNAPSHOT_NAMES;
	rc = mdb_cursor_open(txn, NAMES_TABLE, &cursor);
	if (rc != 0)
		return rc;
	rc = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
	mdb_cursor_close(cursor);
	if (rc == 0)
		rc = mdb_env_info(env->env, &info);
	if (rc != 0)
		return rc;
	at = meta->names.root * limits.page_bytes +
	     (size_t)((const unsigned char *)page_key(page, 0).at - page);
	map_guard_remove(&env->unreadable);
	env->page_bytes = limits.page_bytes;
	env->map_bytes = info.me_mapsize;
	atomic_store(&env->base, (const unsigned char *)key.mv_data - at);
	atomic_store(&env->base_moves, atomic_load(&env->moves));
	map_guard_add(
	    atomic_load(&env->base), env->map_bytes, &env->unreadable);
	return 0;
}

/* Both headers, while the map is not known. */
static bool
read_metas(struct db_env *env, struct page_meta metas[static PAGE_METAS])
{
	int fd;

	return mdb_env_get_fd(env->env, &fd) == 0 &&
	       read_meta(fd, 0, 0, &metas[0]) &&
	       read_meta(fd, 1, metas[0].page_bytes, &metas[1]);
}

/* The header of transaction `id`; EAGAIN: it was overwritten. */
static int
get_meta(struct db_env *env, const unsigned char *base, uint64_t id,
    struct page_meta *meta)
{
	unsigned index = id % PAGE_METAS;
	struct page_meta metas[PAGE_METAS];

	if (base != NULL) {
		if (!page_get_meta(
			base + (size_t)index * env->page_bytes, index, meta))
			return EAGAIN;
	} else {
		if (!read_metas(env, metas))
			return EAGAIN;
		*meta = metas[index];
	}
	return meta->txn == id ? 0 : EAGAIN;
}

/* ---- the beginning of a transaction ---- */

/* Pages that were allocated and freed in one transaction are never written, so
 * a whole file may end before them.  All pages that it lacks must be free. */
static int
check_length(struct snapshot *snapshot, MDB_env *env, uint64_t pages)
{
	uint64_t free_pages, has;
	struct stat st;
	int fd;

	if (mdb_env_get_fd(env, &fd) != 0 || fstat(fd, &st) != 0)
		return SNAPSHOT_UNREADABLE;
	has = (uint64_t)st.st_size / snapshot->limits.page_bytes;
	if (has >= pages)
		return 0;
	snapshot->limits.pages = has;
	return snapshot_free_list(snapshot, has, &free_pages) &&
		       free_pages >= pages - has
		   ? 0
		   : SNAPSHOT_CUT;
}

static int
find_names(struct snapshot *snapshot, const struct page_tree *names)
{
	struct snapshot_path path;

	snapshot->names = NULL;
	if (names->root == PAGE_NONE)
		return 0;
	snapshot_path_begin(&path, snapshot, names);
	if (names->depth != 1 ||
	    snapshot_path_seek(&path, (struct text){ NULL, 0 }) != WAY_LEAF ||
	    !page_check_trees(snapshot_path_leaf(&path)))
		return SNAPSHOT_NAMES;
	snapshot->names = snapshot_path_leaf(&path);
	return 0;
}

/* A page that was checked in an older snapshot may have another content now.
 * In the process that writes, this content is LMDB's own. */
static void
renew_marks(struct db_env *env, uint64_t id)
{
	if (env->read_only && atomic_exchange(&env->marks_txn, id) != id)
		db_marks_clear(env->marks);
}

int
snapshot_begin(
    struct snapshot *snapshot, struct db_env *env, MDB_txn *txn, bool write)
{
	uint64_t id = mdb_txn_id(txn) - (write ? 1 : 0);
	const unsigned char *base = atomic_load(&env->base);
	struct page_meta meta;
	int rc;

	*snapshot = (struct snapshot){ .env = env, .txn = id };
	if (snapshot_is_unreadable(env))
		return SNAPSHOT_UNREADABLE;
	if (atomic_load(&env->base_moves) != atomic_load(&env->moves))
		base = NULL;
	rc = get_meta(env, base, id, &meta);
	if (rc != 0)
		return rc;
	if (base == NULL && meta.names.root != PAGE_NONE) {
		rc = find_map(env, txn, &meta);
		if (rc != 0)
			return rc;
		base = atomic_load(&env->base);
	}
	snapshot->base = base;
	snapshot->free_list = meta.free_list;
	snapshot->last = meta.last;
	snapshot->limits =
	    (struct page_limits){ meta.page_bytes, meta.last + 1 };
	if (base == NULL)
		return 0;
	renew_marks(env, id);
	rc = check_length(snapshot, env->env, meta.last + 1);
	if (rc == 0)
		rc = find_names(snapshot, &meta.names);
	if (rc == 0 && write && !snapshot_free_list(snapshot, 0, NULL))
		rc = SNAPSHOT_FREE_LIST;
	return rc;
}

bool
snapshot_is_unreadable(const struct db_env *env)
{
	return atomic_load(&env->unreadable);
}

bool
snapshot_tree(
    const struct snapshot *snapshot, const char *name, struct page_tree *tree)
{
	return snapshot->names != NULL &&
	       page_find_tree(snapshot->names, text_of(name), tree);
}

bool
snapshot_has(const struct snapshot *snapshot, const void *at, size_t bytes)
{
	const unsigned char *from = at, *base = snapshot->base;
	size_t end =
	    (size_t)(snapshot->limits.pages * snapshot->limits.page_bytes);

	if (from < base || from >= base + snapshot->env->map_bytes)
		return true;
	return (size_t)(from - base) <= end &&
	       bytes <= end - (size_t)(from - base);
}
