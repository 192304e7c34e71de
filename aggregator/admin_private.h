/*
 * admin_private - what admin.c and admin_backup.c share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_PRIVATE_H
#define AGGREGATOR_ADMIN_PRIVATE_H

#include "aggregator/admin.h"
#include "aggregator/tables.h"

/* Both environments of a store. */
struct admin_both {
	struct journal *journal;
	struct db *tables;
};

int admin_both_open(struct admin_both *both, const char *store, bool read_only,
    struct err *err);
void admin_both_close(struct admin_both *both);

#endif
