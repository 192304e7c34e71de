/*
 * durable_dir - directories of the store that must survive a crash.
 *
 * A name is durable only after its directory was synced.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_DURABLE_DIR_H
#define AGGREGATOR_DB_DURABLE_DIR_H

#include <stdbool.h>

#include "proto/base/err.h"

enum { DURABLE_DIR_PATH_BYTES = 1024 };

/* "DIR/NAME"; -1 when it does not fit. */
int durable_dir_path(char to[static DURABLE_DIR_PATH_BYTES], const char *dir,
    const char *name, struct err *err);

/* `path` with a suffix appended to its last component, without trailing
 * slashes. */
int durable_dir_with_suffix(char to[static DURABLE_DIR_PATH_BYTES],
    const char *path, const char *suffix, struct err *err);

/* Sync a file, or the names in a directory. */
int durable_dir_sync(const char *path, struct err *err);

/* -1: `path` is on a file system that other machines may write to, where locks
 * and maps are not reliable; `err` names it.  `path` need not exist, its parent
 * must. */
int durable_dir_refuse_network(const char *path, struct err *err);

/* Has the directory no entries, or does it not exist? */
bool durable_dir_is_empty(const char *path);

/* Remove a directory and the files in it; succeeds if it does not exist, fails
 * if it contains directories. */
int durable_dir_remove(const char *path, struct err *err);

/* Rename a directory or file, then sync its parent. */
int durable_dir_rename(const char *from, const char *to, struct err *err);

/* Exchange the names of two directories of the same parent atomically, then
 * sync the parent. */
int durable_dir_exchange(const char *a, const char *b, struct err *err);

#endif
