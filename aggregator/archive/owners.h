/*
 * owners - which aggregator writes a partition to the archive.
 *
 * An aggregator has an epoch, the number of its first claim (claims.h), and
 * claims its partitions with it.  Whoever takes over a partition has a higher
 * epoch; the older owner sees that and stops.  What an epoch has written counts
 * up to its last commit (commits.h), and not beyond the end that the next
 * owner gives it.
 *
 * Each claim has a random number that the store noted before, and in it where
 * the store is: a store that is somewhere else, or whose machine was started
 * again, takes a new epoch, because nobody can tell it from a copy.  A store of
 * which another copy has claimed since is refused.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_OWNERS_H
#define AGGREGATOR_ARCHIVE_OWNERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/claims.h"
#include "aggregator/db/db.h"
#include "proto/clickhouse/client.h"

/* A partition of the store, and its number there. */
struct owners_part {
	uint64_t part;
	uint32_t number;
};

struct owners {
	struct clickhouse *client; /* not owned */
	const atomic_bool *stop;   /* not owned */
	uint64_t store;            /* its generation */
	uint32_t place;            /* owners_place */
	const char *endpoint;      /* where readers find the aggregator */
	bool takes_over;           /* partitions of others, too */
	struct claims claims;
	uint64_t claimant; /* of this start; 0: none yet */
	uint32_t claim;    /* the last one of this store; 0: none yet */
	uint32_t epoch;    /* 0: none yet */
	uint64_t noted;    /* the last change that it may have committed */
	struct owners_part *part; /* of the store, in ascending order */
	uint32_t parts;
	bool has_rows;   /* for readers */
	unsigned ended;  /* claims of others */
	bool is_refused; /* another aggregator, or copy, is the owner */
};

/* What the store has noted: FACT_CLAIMANT, FACT_CLAIM, FACT_ARCHIVED. */
struct owners_notes {
	uint64_t claimant;
	uint32_t claim;
	uint64_t archived;
};
struct owners_notes owners_notes(struct db_txn *txn);

/* Where a store is, and since which start of the machine: in another place may
 * be a copy of it. */
uint32_t owners_place(const char *store);
void owners_clear(struct owners *owners);
/* Find out which epoch the store has, 0: it must take one, and which number the
 * store must note as `claimant` before that.  -1 with `is_refused`: another
 * copy of the store has claimed. */
int owners_recognize(
    struct owners *owners, const struct owners_notes *notes, struct err *err);
/* Make the first claim of an epoch, if there is none. */
int owners_take_epoch(struct owners *owners, struct err *err);
/* Claim the partitions of the store that are new, and end what others had of
 * them.  -1 with `is_refused`: another aggregator has one. */
int owners_claim(struct owners *owners, struct db_txn *txn, struct err *err);
/* Are they still ours?  To be asked before something is written that counts. */
int owners_look(struct owners *owners, struct err *err);
/* Does the store have all that the archive has of its partitions?  Before a
 * takeover. */
int owners_check(struct owners *owners, struct db_txn *txn, struct err *err);

#endif
