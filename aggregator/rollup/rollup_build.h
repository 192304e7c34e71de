/*
 * rollup_build - build the rollups of samples that were just compacted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_BUILD_H
#define AGGREGATOR_ROLLUP_ROLLUP_BUILD_H

#include "aggregator/db/db.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/compacted_cursor.h"
#include "aggregator/tables/key.h"

struct rollup_builder; /* opaque */

struct rollup_builder *rollup_builder_new(void);
void rollup_builder_free(struct rollup_builder **builder);

/* Begin a transaction: forget the metric groups. */
void rollup_builder_begin(
    struct rollup_builder *builder, struct db_txn *txn, uint32_t partition);
/* Build the rollups of one node and metric group again from the compacted
 * slice that `block` names, which has all its samples of the hour.  If
 * retention has deleted samples of the hour, the existing rollups stay, because
 * the slice is incomplete. */
void rollup_build(
    struct rollup_builder *builder, const struct key_row_block *block);
/* The same of samples that are about to be deleted, if their rollups lack
 * values whose columns have been defined since.  False: nothing was built. */
bool rollup_build_lacking(
    struct rollup_builder *builder, const struct key_row_block *block);

#endif
