/*
 * move_attempt - an attempt to copy a partition, recorded in the target's
 * tables, so that what a crashed attempt has left is found and deleted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_ATTEMPT_H
#define AGGREGATOR_MOVE_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/journal/owner.h"

struct move_attempt {
	uint32_t number; /* of the partition in the target; 0: none */
	bool whole;      /* all rows and the name are copied */
	unsigned char move[OWNER_MOVE_BYTES];
};

/* Number 0: there is no attempt. */
struct move_attempt move_attempt_get(struct db_txn *txn, struct text partition);
void move_attempt_put(struct db_txn *txn, struct text partition,
    const struct move_attempt *attempt);
void move_attempt_remove(struct db_txn *txn, struct text partition);

#endif
