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
 * slice that `node` names, which has all its samples of the hour.  If retention
 * has deleted samples of the hour, the existing rollups stay, because the slice
 * is incomplete.  Nodes come in the order of the slice. */
void rollup_build(
    struct rollup_builder *builder, const struct key_row_block *node);
/* The same of samples that are about to be deleted, if rows were to be built
 * later, or lack values whose columns have been defined since.  False: nothing
 * is built. */
bool rollup_build_lacking(
    struct rollup_builder *builder, const struct key_row_block *node);
/* Build what is left; before the samples are deleted, and before the commit. */
void rollup_builder_end(struct rollup_builder *builder);

#endif
