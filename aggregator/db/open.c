/*
 * db_open - create and open environments, once in a process.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/env.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/db/durable_dir.h"
#include "aggregator/db/snapshot.h"
#include "aggregator/db/source.h"
#include "proto/base/memory.h"
#include "proto/os/lockfile.h"

/* All environments of this process; env.h says why they are shared. */
static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;
static struct db_env *opened;

static struct db_env *
env_new(void)
{
	struct db_env *env = memory_zero(1, sizeof(*env));

	pthread_mutex_init(&env->spare_lock, NULL);
	env->marks = db_marks_new();
	env->damage = db_damage_list_new();
	return env;
}

static struct db *
handle_new(
    struct db_env *shared, const char *path, const struct db_options *options)
{
	struct db *db = memory_zero(1, sizeof(*db));

	db->path = memory_string(path);
	db->shared = shared;
	db->read_only = options->read_only;
	db->marking = options->marking;
	shared->users++;
	return db;
}

/* Map the table numbers of the handle to those of the environment. */
static int
map_tables(struct db *db, const struct db_options *options, struct err *err)
{
	for (unsigned i = 0; options->tables[i] != NULL; i++) {
		uint32_t at = 0;

		while (at < db->shared->tables &&
		       strcmp(db->shared->names[at], options->tables[i]) != 0)
			at++;
		if (at == db->shared->tables)
			return err_set(err, "%s: no table \"%s\"", db->path,
			    options->tables[i]);
		db->dbi_index[db->tables++] = at;
	}
	return 0;
}

static int
write_format(struct db *db, const struct db_options *options, struct err *err)
{
	struct text value = { (const char *)&options->format,
		sizeof(options->format) };
	struct db_txn *txn;

	if (db_begin(db, true, &txn, err) != 0)
		return -1;
	db_put(txn, db_env_meta(options), text_of("format"), value);
	return db_commit(&txn, err) == DB_OK ? 0 : -1;
}

/* Create an environment next to `path` and rename it once it is on disk: a
 * crash leaves a complete one or none. */
static int
create(const char *path, const struct db_options *options, struct err *err)
{
	char temporary[DURABLE_DIR_PATH_BYTES], file[DURABLE_DIR_PATH_BYTES];
	struct db_env *shared = env_new();
	struct db *db = NULL;
	int rc = -1;

	if (strlen(path) + sizeof(".new") > sizeof(temporary)) {
		err_set(err, "%s: path is too long", path);
		goto out;
	}
	strcpy(temporary, path);
	strcat(temporary, ".new");
	if (durable_dir_remove(temporary, err) != 0)
		goto out;
	if (mkdir(temporary, 0700) != 0) {
		err_set(err, "%s: %s", temporary, strerror(errno));
		goto out;
	}
	if (db_env_open(&shared->env, temporary, options, err) != 0 ||
	    db_env_open_tables(shared, temporary, options, MDB_CREATE, err) !=
		0)
		goto out;
	db = handle_new(shared, temporary, options);
	rc = map_tables(db, options, err);
	if (rc == 0)
		rc = write_format(db, options, err);
	if (rc == 0)
		rc = durable_dir_path(file, temporary, "data.mdb", err);
	if (rc == 0)
		rc = durable_dir_sync(file, err);
	if (rc == 0)
		rc = durable_dir_sync(temporary, err);
out:
	db_env_free(shared);
	if (db != NULL)
		free(db->path);
	free(db);
	if (rc != 0)
		return rc;
	/* Where somebody has removed the data, its locks may be left. */
	if (durable_dir_path(file, path, "lock.mdb", NULL) == 0)
		unlink(file);
	return durable_dir_rename(temporary, path, err);
}

static struct db_env *
find_opened(const struct stat *st)
{
	struct db_env *at = opened;

	while (
	    at != NULL && (at->device != st->st_dev || at->inode != st->st_ino))
		at = at->next;
	return at;
}

/* Without the lock file no writer knows what readers of other processes read.
 */
static void
hold_files(
    struct db_env *env, const char *path, const struct db_options *options)
{
	char file[DURABLE_DIR_PATH_BYTES];

	if (options->temporary)
		return;
	if (durable_dir_path(file, path, "data.mdb", NULL) == 0)
		env->file = held_file_add(file, NULL, NULL);
	if (durable_dir_path(file, path, "lock.mdb", NULL) == 0)
		env->locks = held_file_add(file, NULL, NULL);
}

static int
open_existing(const char *path, const struct stat *st,
    const struct db_options *options, struct db_env **shared, struct err *err)
{
	struct db_env *env = find_opened(st);
	int rc = 0;

	if (env != NULL) {
		*shared = env;
		return !options->read_only && env->read_only
			   ? err_set(err, "%s: already open for reading", path)
			   : 0;
	}
	env = env_new();
	env->read_only = options->read_only;
	if (snapshot_check_file(path, err) != 0 ||
	    db_env_open(&env->env, path, options, err) != 0) {
		db_env_free(env);
		return -1;
	}
	if (!options->read_only)
		rc = db_env_make_spare(env);
	if (rc != 0)
		db_env_refuse(path, "open", rc, err);
	if (rc != 0 || db_env_check_format(env, path, options, err) != 0 ||
	    db_env_open_tables(env, path, options, 0, err) != 0) {
		db_env_free(env);
		return -1;
	}
	hold_files(env, path, options);
	env->device = st->st_dev;
	env->inode = st->st_ino;
	env->next = opened;
	opened = *shared = env;
	return 0;
}

static int
open_locked(struct db **db, const char *path, const struct db_options *options,
    struct err *err)
{
	char file[DURABLE_DIR_PATH_BYTES];
	struct db_env *shared;
	struct stat st;

	if (durable_dir_path(file, path, "data.mdb", err) != 0)
		return -1;
	if (stat(file, &st) != 0) {
		if (errno != ENOENT || options->read_only)
			return err_set(err, "%s: %s", file, strerror(errno));
		if (create(path, options, err) != 0)
			return -1;
		if (stat(file, &st) != 0)
			return err_set(err, "%s: %s", file, strerror(errno));
	}
	if (open_existing(path, &st, options, &shared, err) != 0)
		return -1;
	*db = handle_new(shared, path, options);
	return 0;
}

int
db_open(struct db **db, const char *path, const struct db_options *options,
    struct err *err)
{
	int rc;

	*db = NULL;
	if (!options->allow_network && !options->read_only &&
	    durable_dir_refuse_network(path, err) != 0)
		return -1;
	pthread_mutex_lock(&opened_lock);
	rc = open_locked(db, path, options, err);
	pthread_mutex_unlock(&opened_lock);
	if (rc == 0)
		rc = map_tables(*db, options, err);
	if (rc != 0)
		db_close(db);
	return rc;
}

struct db *
db_open_source(const struct db_source *source)
{
	struct db *db = memory_zero(1, sizeof(*db));

	db->source = source;
	db->path = memory_string("archive");
	return db;
}

void
db_close(struct db **db)
{
	struct db_env *shared, **link;

	if (*db == NULL)
		return;
	shared = (*db)->shared;
	pthread_mutex_lock(&opened_lock);
	if (shared != NULL && --shared->users == 0) {
		for (link = &opened; *link != shared; link = &(*link)->next)
			;
		*link = shared->next;
		db_env_free(shared);
	}
	pthread_mutex_unlock(&opened_lock);
	free((*db)->path);
	free(*db);
	*db = NULL;
}
