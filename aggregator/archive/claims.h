/*
 * claims - who writes which partitions to the archive, decided by ZooKeeper
 * through the engine alone.
 *
 * Claim N is a table claim_N of the first shard; what it says is in the names
 * of its columns, so of two that make it at once exactly one succeeds.  Whoever
 * makes claim N has read all before it.  A partition belongs to the last claim
 * that names it.  Claims are never changed or removed.
 *
 * On a single server without ZooKeeper the server decides.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_CLAIMS_H
#define AGGREGATOR_ARCHIVE_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

enum {
	CLAIM_NUMBER_MAX =
	    UINT16_MAX - 1,     /* an epoch has 16 bits of a position */
	CLAIM_PARTS_MAX = 1000, /* partitions of one claim */
	CLAIM_ENDPOINT_BYTES = 120,
	CLAIMS_PATH_BYTES = 256,
};

struct claim {
	uint32_t number;   /* from 1 on */
	uint32_t epoch;    /* the number of the first claim of this epoch */
	uint64_t claimant; /* random, and where the store is: owners.h */
	uint64_t store;    /* its generation */
	char endpoint[CLAIM_ENDPOINT_BYTES]; /* of its aggregator; "" */
};

/* The owner of a partition. */
struct claim_part {
	uint64_t part;
	uint32_t epoch;
};

struct claims {
	struct clickhouse *client; /* not owned */
	char path[CLAIMS_PATH_BYTES];
	uint32_t floor;      /* the first claim has a higher number */
	struct claim *claim; /* in the order of their numbers */
	uint32_t count, room;
	struct claim_part *part; /* in ascending order */
	uint32_t parts, part_room;
};

void claims_clear(struct claims *claims);
/* Read those that are new.  An archive that is from before has fewer than were
 * read: then all of them are read again. */
int claims_read(struct claims *claims, struct err *err);
/* Try to make the next claim, of the next number, for `new` (without a number;
 * epoch 0: the number) and these partitions, at most CLAIM_PARTS_MAX.  Then
 * read what there is: see there who has made it.  -1: it is not known whether
 * there is such a claim. */
int claims_make(struct claims *claims, const struct claim *new,
    const uint64_t *part, uint32_t parts, struct err *err);

/* The last one of a store, or with an epoch; NULL: there is none. */
const struct claim *claims_of_store(
    const struct claims *claims, uint64_t store);
const struct claim *claims_of_epoch(
    const struct claims *claims, uint32_t epoch);
/* The epoch to which a partition belongs; 0: to none. */
uint32_t claims_epoch_of(const struct claims *claims, uint64_t part);

#endif
