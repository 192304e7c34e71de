/*
 * tier_build - the tiers of samples that have just been sealed.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_TIER_BUILD_H
#define AGGREGATOR_WRITER_TIER_BUILD_H

#include "aggregator/db/db.h"
#include "aggregator/rows/sealed_cursor.h"
#include "aggregator/tables/key.h"

struct tier_builder; /* opaque */

struct tier_builder *tier_builder_new(void);
void tier_builder_free(struct tier_builder **maker);

/* A transaction begins: nothing is known of the sets of `partition`.  A tier
 * is made of `dense` samples a bucket or more. */
void tier_builder_begin(struct tier_builder *maker, struct db_txn *txn,
    uint32_t partition, uint32_t dense);
/* Make the tiers of one node and set anew, from the sealed run that `band`
 * names, which has all of its samples of the hour; or note that the samples
 * stand for them.  Where samples were removed before, by age or size, the run
 * does not have them all: what tiers there are stay. */
void tier_build(struct tier_builder *maker, const struct key_head *band);

#endif
