/*
 * db_env - an LMDB environment, opened once in a process.
 *
 * Private to db*.c.  LMDB must not open a file twice in one
 * process (closing one drops the locks of both), so the environments of a
 * process are kept in a list by device and inode and shared.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_ENV_H
#define AGGREGATOR_DB_ENV_H

#include <lmdb.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "aggregator/db/db.h"

struct db_env {
	struct db_env *next;
	MDB_env *env;
	dev_t device;
	ino_t inode;
	unsigned users; /* struct db that share it */
	bool read_only;
	_Atomic uint32_t transactions; /* open now: the map may not move */
	_Atomic uint32_t moves;        /* of the map, so far */
	_Atomic uint64_t damaged;
	uint32_t tables;
	char *names[DB_TABLES_MAX];
	MDB_dbi dbi[DB_TABLES_MAX];
};

struct db {
	struct db_env *shared;
	bool read_only;
	uint32_t tables;
	uint32_t dbi_index[DB_TABLES_MAX]; /* ours -> the environment's */
	char *path;
	/* db_resident: what was read of the map since it was last dropped */
	uintptr_t touched_from, touched_to;
	size_t touched_bytes;
	uint32_t moves; /* of the map that these are in */
};

/* Open the files in the directory `path`, which are there or, for a writer,
 * are made. */
int db_env_open(MDB_env **env, const char *path,
    const struct db_options *options, struct err *err);
void db_env_free(struct db_env *shared);

/* Open the tables; `flags` MDB_CREATE makes them. */
int db_env_open_tables(struct db_env *shared, const char *path,
    const struct db_options *options, unsigned flags, struct err *err);

/* Which of the tables is "meta", where the format stands. */
unsigned db_env_meta(const struct db_options *options);
int db_env_check_format(struct db_env *shared, const char *path,
    const struct db_options *options, struct err *err);

/* Begin a transaction, taking in a map that another process made larger. */
int db_env_begin(struct db_env *shared, bool write, MDB_txn **txn);
void db_env_end(struct db_env *shared);

/* For a read-only `db`, which one thread uses: note what was read; between two
 * transactions, give the memory back when it was much. */
void db_resident_note(struct db *db, const void *value, size_t bytes);
void db_resident_drop(struct db *db);

/* Is the file system of `db` as good as full? */
bool db_env_disk_is_full(const struct db *db);

#endif
