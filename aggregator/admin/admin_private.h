/*
 * admin_private - what admin.c, backup.c and restore.c share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_ADMIN_PRIVATE_H
#define AGGREGATOR_ADMIN_ADMIN_PRIVATE_H

#include "aggregator/admin/admin.h"
#include "aggregator/tables/tables.h"

/* Both environments of a store. */
struct admin_both {
	struct journal *journal;
	struct db *tables;
};

int admin_both_open(struct admin_both *both, const char *store, bool read_only,
    struct err *err);
void admin_both_close(struct admin_both *both);

/* Copy both into the directory `dir`, which has neither. */
int admin_copy_both(struct admin_both *both, const char *dir, struct err *err);
/* Remove what admin_backup puts into a directory, whole or not. */
int admin_remove_copy(const char *dir, struct err *err);
/* Remove what looking at a copy left there. */
void admin_remove_locks(const char *dir);

#endif
