/*
 * rollup_list - which rollups there are of one hour, node and set.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_LIST_H
#define AGGREGATOR_ROLLUP_ROLLUP_LIST_H

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "aggregator/rollup/rollup.h"

/* The first row of a rollup; `series_block` says of what, its run is not looked
 * at. */
bool rollup_list_find(struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *series_block, struct text *value);
/* Is there any of any rollup? */
bool rollup_list_any(
    struct db_txn *txn, const struct key_row_block *series_block);
/* Do the samples stand for any rollup that is kept? */
bool rollup_list_need_samples(
    struct db_txn *txn, const struct key_row_block *series_block);

#endif
