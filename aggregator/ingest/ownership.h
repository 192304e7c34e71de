/*
 * ownership - is a partition assigned to this store?
 *
 * Its row in the journal decides (journal/owner.h), or for a new partition the
 * patterns that this store accepts.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OWNERSHIP_H
#define AGGREGATOR_INGEST_OWNERSHIP_H

#include "aggregator/journal/owner.h"
#include "proto/config/opt.h"

enum ownership {
	OWNERSHIP_OURS,
	OWNERSHIP_LATER,     /* it is moving, or its row cannot be read */
	OWNERSHIP_ELSEWHERE, /* it was moved, or is not accepted here */
};

/* Fills `owner`, for ownership_begin.  A partition without a row is accepted
 * when it matches one of `accept` (text_match); NULL or none: all match. */
enum ownership ownership_find(struct db_txn *txn, struct text partition,
    const struct opt_list *accept, struct owner *owner);

/* Assign the partition to this store, with its first batch. */
void ownership_begin(struct db_txn *txn, struct text partition,
    const struct owner *owner, int64_t now_ns);

#endif
