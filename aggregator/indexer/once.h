/*
 * once - keep a record of an import once, however often it comes.
 *
 * A record is known by the hour of its time and a hash: of its uuid, if it has
 * one, else of its node and its whole content.  A record that names the
 * identity that it had in another store is known by that and its content: who
 * names the identities of others keeps none of their records out.  Hour by hour
 * the marks go with the records (retention).  Entities are always taken: they
 * are merged.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_ONCE_H
#define AGGREGATOR_INDEXER_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/tables.h"
#include "proto/record/record.h"

/* Is it new?  If so, it is known from now on, in this transaction. */
bool once_is_new(struct db_txn *txn, uint32_t partition,
    const struct record *record, bool named);

#endif
