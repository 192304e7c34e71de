/*
 * ownership - is a partition kept here?  What its row in the journal says
 * (journal/owner.h), and for one that is new what this store is to own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OWNERSHIP_H
#define AGGREGATOR_INGEST_OWNERSHIP_H

#include "aggregator/journal/owner.h"
#include "proto/config/opt.h"

enum keep_owner {
	KEEP_OURS,
	KEEP_LATER,     /* it moves, or its row cannot be read */
	KEEP_ELSEWHERE, /* it went, or is not for this store */
};

/* Fills `owner`, for keep_owner_begin.  Partitions that are new here are ours
 * when they match one of `owns` (text_match); NULL or none: any. */
enum keep_owner keep_owner_find(struct db_txn *txn, struct text partition,
    const struct opt_list *owns, struct owner *owner);

/* Something of it is kept: from its first batch on it is ours. */
void keep_owner_begin(struct db_txn *txn, struct text partition,
    const struct owner *owner, int64_t now_ns);

#endif
