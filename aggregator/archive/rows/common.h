/*
 * common - facts of a store that the archive has once for each partition, so
 * that who reads a partition there needs nothing else: the models that its
 * phases were derived with, and the key of the hashes of their keys.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_COMMON_H
#define AGGREGATOR_ARCHIVE_ROWS_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/err.h"

typedef int common_row(
    void *arg, struct text key, struct text value, struct err *err);

/* Call `call` with each of these rows of TABLES_META, as long as it returns
 * 0. */
int common_each(
    struct db_txn *txn, common_row *call, void *arg, struct err *err);
/* Is this key of TABLES_META one of them? */
bool common_is(struct text key);
/* Differs when they do. */
uint64_t common_hash(struct db_txn *txn);

#endif
