/*
 * backpressure - is there room in the journal for more?
 *
 * No when the disk or the map is full, or when indexing lags too far behind.
 * Before it does, batches are admitted at the rate of the indexer (pace.h).
 * Indexed entries are purged when they are old, when there are many, or when
 * room is short.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BACKPRESSURE_H
#define AGGREGATOR_INGEST_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/pace.h"
#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"

/* The indexer, as seen by the writer of the journal. */
struct backpressure_follower {
	void *arg;
	void (*wake)(void *arg);         /* there are new entries */
	uint64_t (*position)(void *arg); /* entries up to here may be purged */
};

/* The caller sets the first four members; the others are zero at first. */
enum { BACKPRESSURE_WHY_BYTES = 256 };

struct backpressure {
	struct journal *journal;
	struct backpressure_follower follower;
	uint64_t
	    journal_bytes; /* limit of entries not indexed, and of others */
	int64_t keep_ns;   /* age at which indexed entries are purged */

	struct pace pace;
	bool full, lagging;
	uint64_t indexing_lag_bytes; /* of entries that are not indexed yet */
	uint64_t failures, purged;
	char full_why[BACKPRESSURE_WHY_BYTES];
	int64_t retry_ns;  /* while full: do not try before this time */
	int64_t warned_ns; /* last line about waiting senders; 0: none yet */
};

enum receiver_room backpressure_check(
    struct backpressure *backpressure, int64_t now_ns);

/* A commit has found the disk or map full. */
void backpressure_set_full(
    struct backpressure *backpressure, int64_t now_ns, const struct err *err);
/* A commit has succeeded. */
void backpressure_set_room(struct backpressure *backpressure);

/* Within the journal's transaction: purge at most `entries` of the oldest
 * entries; returns how many. */
uint32_t backpressure_purge(
    struct backpressure *backpressure, uint32_t entries);

/* Purge in a transaction of its own, for times without other commits.  Writes
 * only if there is something to purge, or if the journal is full and nobody has
 * tried for ten seconds.  DB_FULL: there is still no room. */
enum db_result backpressure_purge_alone(
    struct backpressure *backpressure, uint32_t entries, struct err *err);

#endif
