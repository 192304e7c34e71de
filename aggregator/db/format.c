/*
 * db_format - the tables of an environment, and its format.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/snapshot.h"

#include <assert.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/hash/crc32c.h"

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
	/* A page that a damaged number leads to may be one of another table,
	 * with keys alike.  The format must be readable whatever it is. */
	shared->seed[shared->tables] =
	    strcmp(name, "meta") == 0 ? 0 : crc32c(0, name, strlen(name));
	shared->dbi[shared->tables++] = dbi;
}

int
db_env_open_tables(struct db_env *shared, const char *path,
    const struct db_options *options, unsigned flags, struct err *err)
{
	struct snapshot snapshot;
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc;

	rc = db_env_begin(shared, flags & MDB_CREATE, &txn, &snapshot);
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

/* Is there a way to this row that LMDB can go? */
static bool
has_way(const struct snapshot *snapshot, const char *table, const char *key)
{
	struct snapshot_path path;
	struct page_tree tree;
	enum snapshot_way way;

	if (!snapshot_tree(snapshot, table, &tree))
		return false;
	snapshot_path_begin(&path, snapshot, &tree);
	way = snapshot_path_seek(&path, text_of(key));
	return way == WAY_LEAF || way == WAY_DOUBTFUL;
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
	const char *meta = options->tables[db_env_meta(options)];
	uint32_t format = 0, kept, crc;
	struct snapshot snapshot;
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc;

	rc = db_env_begin(shared, false, &txn, &snapshot);
	if (rc != 0)
		return db_env_refuse(path, "open", rc, err);
	rc = mdb_dbi_open(txn, meta, 0, &dbi);
	if (rc == 0 && !has_way(&snapshot, meta, name))
		rc = MDB_CORRUPTED;
	if (rc == 0)
		rc = mdb_get(txn, dbi, &key, &value);
	if (rc == 0 && value.mv_size == sizeof(format) + sizeof(kept) &&
	    snapshot_has(&snapshot, value.mv_data, value.mv_size)) {
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
