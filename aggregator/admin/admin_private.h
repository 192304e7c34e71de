/*
 * admin_private - shared by admin.c, backup.c and restore.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_ADMIN_PRIVATE_H
#define AGGREGATOR_ADMIN_ADMIN_PRIVATE_H

#include "aggregator/admin/admin.h"
#include "aggregator/tables/tables.h"

/* Journal and tables of a store. */
struct admin_both {
	struct journal *journal;
	struct db *tables;
};

int admin_both_open(struct admin_both *both, const char *store, bool read_only,
    struct err *err);
void admin_both_close(struct admin_both *both);

/* Copy both into the directory `dir`, which must have neither. */
int admin_copy_both(struct admin_both *both, const char *dir, struct err *err);
/* Remove the files of a backup, complete or not, from a directory. */
int admin_remove_copy(const char *dir, struct err *err);
/* Remove the lock files that opening a copy has left in it. */
void admin_remove_locks(const char *dir);

/* Both locks of a store whose directory is to be replaced; it may be another
 * user's. */
int admin_lock_to_replace(struct lockfile *lockfile, struct lockfile *files,
    const char *store, struct err *err);

#endif
