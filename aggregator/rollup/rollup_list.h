/*
 * rollup_list - the rollups of one hour, node and metric group.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_LIST_H
#define AGGREGATOR_ROLLUP_ROLLUP_LIST_H

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "aggregator/rollup/rollup.h"

/* Find the first row of a rollup of `block`, whose slice is ignored. */
bool rollup_list_find(struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *block, struct text *value);
/* Is there a row of any rollup? */
bool rollup_list_any(struct db_txn *txn, const struct key_row_block *block);
#endif
