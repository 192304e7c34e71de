/*
 * rollup_build - the rollups of samples that have just been compacted.
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

/* A transaction begins: nothing is known of the sets of `partition`.  A rollup
 * is made of `dense` samples a bucket or more. */
void rollup_builder_begin(struct rollup_builder *builder, struct db_txn *txn,
    uint32_t partition, uint32_t dense);
/* Make the rollups of one node and set anew, from the compacted run that
 * `series_block` names, which has all of its samples of the hour; or note that
 * the samples stand for them.  Where samples were removed before, by age or
 * size, the run does not have them all: what rollups there are stay. */
void rollup_build(
    struct rollup_builder *builder, const struct key_row_block *series_block);

#endif
