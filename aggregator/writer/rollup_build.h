/*
 * rollup_build - build the rollups of samples that were just compacted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_ROLLUP_BUILD_H
#define AGGREGATOR_WRITER_ROLLUP_BUILD_H

#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_cursor.h"
#include "aggregator/tables/key.h"

struct rollup_builder; /* opaque */

struct rollup_builder *rollup_builder_new(void);
void rollup_builder_free(struct rollup_builder **builder);

/* Begin a transaction: forget the metric groups.  A rollup is written if it
 * has at least `dense` samples per bucket. */
void rollup_builder_begin(struct rollup_builder *builder, struct db_txn *txn,
    uint32_t partition, uint32_t dense);
/* Build the rollups of one node and metric group again from the compacted
 * slice that `block` names, which has all its samples of the hour; or mark
 * that the samples replace them.  If retention has deleted samples of the
 * hour, the existing rollups stay, because the slice is incomplete. */
void rollup_build(
    struct rollup_builder *builder, const struct key_row_block *block);

#endif
