/*
 * rollup_build - build the rollups of samples that were just compacted, and
 * those that take the place of samples that are about to be deleted.
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
/* The samples of `block` are about to be deleted.  Of the rollups whose place
 * they take, build those that are `wanted`, and the coarsest if there would be
 * none at all; the others refer to the next coarser one. */
void rollup_build_last(struct rollup_builder *builder,
    const struct key_row_block *block, const bool wanted[static ROLLUPS]);

#endif
