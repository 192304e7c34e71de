/*
 * db_env - an LMDB environment, opened once in a process.
 *
 * Private to this folder.  LMDB must not open a file twice in one process
 * (closing one handle drops the locks of both), so the environments of a
 * process are kept in a list by device and inode and shared.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_ENV_H
#define AGGREGATOR_DB_ENV_H

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "aggregator/db/db.h"
#include "aggregator/db/damage.h"
#include "aggregator/db/pages/marks.h"

enum {
	DB_READERS_MAX = 510, /* reading transactions of all processes */
	DB_SPARE_MAX = 16, /* of these slots, reserved by a writing process */
};

struct db_env {
	struct db_env *next;
	MDB_env *env;
	dev_t device;
	ino_t inode;
	unsigned users;                 /* struct db that share it */
	struct held_file *file, *locks; /* data.mdb, lock.mdb */
	bool read_only;
	_Atomic uint32_t transactions; /* open: the map must not move */
	_Atomic uint32_t moves;        /* how often the map has moved */
	struct db_damage_list *damage; /* all places that were found damaged */
	/* snapshot.c: */
	struct db_marks *marks;              /* pages that were checked */
	_Atomic(const unsigned char *) base; /* of the map; NULL: unknown */
	_Atomic uint32_t base_moves;         /* `moves` when it was found */
	_Atomic uint64_t marks_txn; /* snapshot of the marks, of a reader */
	uint32_t page_bytes;
	uint64_t map_bytes;
	atomic_bool unreadable; /* the file was cut while it was mapped */
	pthread_mutex_t spare_lock;
	MDB_txn *spare[DB_SPARE_MAX]; /* reset transactions keep their slots */
	unsigned spares;
	uint32_t tables;
	char *names[DB_TABLES_MAX];
	MDB_dbi dbi[DB_TABLES_MAX];
	uint32_t seed[DB_TABLES_MAX]; /* of the checksums of its rows */
};

struct db_source;
struct db {
	struct db_env *shared; /* NULL: a source */
	const struct db_source *source;
	bool read_only;
	uint32_t tables;
	/* By table of this handle, the table of the environment. */
	uint32_t dbi_index[DB_TABLES_MAX];
	const struct db_marking *marking; /* NULL: nothing is marked */
	char *path;
	/* For db_resident_drop: the part of the map that was read, and how
	 * often the map had moved then. */
	uintptr_t touched_from, touched_to;
	size_t touched_bytes;
	uint32_t moves;
};

/* Open the files in the directory `path`; a writer creates missing ones. */
int db_env_open(MDB_env **env, const char *path,
    const struct db_options *options, struct err *err);
void db_env_free(struct db_env *shared);

/* Open the tables; `flags` MDB_CREATE creates them. */
int db_env_open_tables(struct db_env *shared, const char *path,
    const struct db_options *options, unsigned flags, struct err *err);

/* The index of the table "meta", which has the format. */
unsigned db_env_meta(const struct db_options *options);
int db_env_check_format(struct db_env *shared, const char *path,
    const struct db_options *options, struct err *err);

/* Begin a transaction; if another process has enlarged the map, map it again. A
 * process that writes has reader slots of its own, which other programs cannot
 * take.  End a reading transaction with db_env_end_read; after the end of a
 * writing one call db_env_end. */
struct snapshot;
int db_env_begin(struct db_env *shared, bool write, MDB_txn **txn,
    struct snapshot *snapshot);
void db_env_end_read(struct db_env *shared, MDB_txn *txn);
void db_env_end(struct db_env *shared);
/* Reserve these slots, and release them. */
int db_env_make_spare(struct db_env *shared);
void db_env_free_spare(struct db_env *shared);
/* Set the error of db_env_begin; returns -1. */
int db_env_refuse(const char *path, const char *doing, int rc, struct err *err);

/* For a read-only `db` of one thread: note each value that was read; between
 * two transactions, release the pages of the map if they are many. */
void db_resident_note(struct db *db, const void *value, size_t bytes);
void db_resident_drop(struct db *db);

/* Why the file of `db` cannot grow: ENOSPC, EDQUOT or EFBIG; 0: it can. */
int db_env_limit(const struct db *db);

#endif
