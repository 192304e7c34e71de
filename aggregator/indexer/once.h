/*
 * once - keep a record of an import once, however often it comes.
 *
 * A record is known by the hour of its time and a hash: of its uuid, if it has
 * one, else of its node and its whole content.  A record that names the
 * identity that it had in another store is known by that, its node, time and
 * names: who names the identities of others keeps out no records of other
 * nodes.  Its sender may come to this store, too, and send it again, so all
 * records of the session are compared from then on.  Hour by hour the marks go
 * with the records (retention).  Entities are always taken: they are merged.
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

/* Records of an import have named this session. */
void once_name_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session);
bool once_has_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session);

#endif
