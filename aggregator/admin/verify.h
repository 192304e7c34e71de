/*
 * verify - check the tables of a store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_VERIFY_H
#define AGGREGATOR_ADMIN_VERIFY_H

#include <stdint.h>

#include "aggregator/db/db.h"

/* Check every row of the tables: checksums, encoding, counts, and statistics
 * against the phases that they summarize.  Returns the number of errors, each
 * passed to `report` (may be NULL), or -1 when the check itself failed. */
int64_t verify_tables(struct db *tables,
    void (*report)(void *arg, const char *sentence), void *arg,
    struct err *err);

#endif
