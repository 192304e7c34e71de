/*
 * once - keep a record of an import once, however often it comes.
 *
 * A record is known by the hour of its time and a hash: of its uuid, if it has
 * one, else of its node and its whole content.  A record that names the
 * identity that it had in another store is known by its place in the tables,
 * which is that identity, the node, the time and the track; no two records may
 * have one place.  The sender of the session may come to this store, too, so
 * all records of the session are compared from then on.  Who names the
 * identities of others keeps nothing out: another record of the place gets
 * another identity, unless both are of one import, whose author is to blame.
 * Hour by hour the marks go with the records (retention).  Entities are always
 * taken: they are merged.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_ONCE_H
#define AGGREGATOR_INDEXER_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/tables/tables.h"
#include "proto/record/record.h"

/* Is the content new?  If so, it is known from now on, in this transaction. */
bool once_is_new(
    struct db_txn *txn, uint32_t partition, const struct record *record);

/* Take the place that a record names, in an import or a session of this stream.
 */
enum once {
	ONCE_NEW,      /* it is the record's from now on */
	ONCE_REPEATED, /* the record came before */
	ONCE_CLAIMED,  /* somebody else has given it to another record */
};
enum once once_take(struct db_txn *txn, uint32_t partition,
    const struct record *record, uint32_t stream);

/* Records of an import have named this session. */
void once_name_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session);
bool once_has_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session);

#endif
