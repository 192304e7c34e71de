/*
 * keep_owner - is a partition kept here?  What its row in the journal says
 * (owner.h), and for one that is new what this store is to own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_KEEP_OWNER_H
#define AGGREGATOR_KEEP_OWNER_H

#include "aggregator/owner.h"
#include "proto/opt.h"

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
