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
/* Do the samples take the place of a rollup that is still retained? */
bool rollup_list_need_samples(
    struct db_txn *txn, const struct key_row_block *block);
/* The rollup to read where `rollup` is wanted: itself or a coarser one;
 * ROLLUP_RAW: read the samples; ROLLUPS: there is nothing. */
enum rollup_step rollup_list_choose(struct db_txn *txn, enum rollup_step rollup,
    const struct key_row_block *block);

#endif
