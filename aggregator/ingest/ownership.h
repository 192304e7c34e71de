/*
 * ownership - is a partition kept here?  What its row in the journal says
 * (journal/owner.h), and for one that is new what this store is to own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_OWNERSHIP_H
#define AGGREGATOR_INGEST_OWNERSHIP_H

#include "aggregator/journal/owner.h"
#include "proto/config/opt.h"

enum ownership {
	OWNERSHIP_OURS,
	OWNERSHIP_LATER,     /* it moves, or its row cannot be read */
	OWNERSHIP_ELSEWHERE, /* it went, or is not for this store */
};

/* Fills `owner`, for ownership_begin.  Partitions that are new here are ours
 * when they match one of `owns` (text_match); NULL or none: any. */
enum ownership ownership_find(struct db_txn *txn, struct text partition,
    const struct opt_list *owns, struct owner *owner);

/* Something of it is kept: from its first batch on it is ours. */
void ownership_begin(struct db_txn *txn, struct text partition,
    const struct owner *owner, int64_t now_ns);

#endif
