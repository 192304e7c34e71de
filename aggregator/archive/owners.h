/*
 * owners - which aggregator writes a partition to the archive.
 *
 * An aggregator takes an epoch, a number that no other one in the archive has,
 * when it first writes there, and claims its partitions with it.  Whoever takes
 * over a partition takes a higher epoch; the older owner sees that and stops.
 * What an epoch has written counts up to its checkpoint (checkpoint.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_OWNERS_H
#define AGGREGATOR_ARCHIVE_OWNERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/clickhouse/client.h"
#include "proto/clickhouse/native.h"

enum { OWNERS_WHO_BYTES = 17 };

struct owners {
	struct clickhouse *client;  /* not owned */
	const atomic_bool *stop;    /* not owned */
	char who[OWNERS_WHO_BYTES]; /* generation of the store, 16 digits */
	const char *endpoint;       /* where readers find the aggregator */
	uint32_t epoch;             /* 0: none yet */
	uint64_t *part;             /* claimed, in ascending order */
	uint32_t parts, room;
	uint32_t partitions; /* of the store, that were looked at */
	bool is_refused;     /* a partition belongs to another aggregator */
};

void owners_clear(struct owners *owners);
/* Find the epoch of this store; take one if it has none.  Waits up to 2 s. */
int owners_take_epoch(struct owners *owners, struct err *err);
/* Claim partitions of the store that are new, and see whether another
 * aggregator has taken one.  -1 with `is_refused`: it has. */
int owners_claim(struct owners *owners, struct db_txn *txn, struct err *err);

/* Insert a block into a table of a shard: at the first replica that takes it.
 * -1: it is not known to be stored. */
int owners_insert(struct owners *owners, unsigned shard, const char *table,
    struct native_block *block, struct err *err);
/* Returns earlier when `stop` is set. */
void owners_pause(const struct owners *owners, int64_t ns);

#endif
