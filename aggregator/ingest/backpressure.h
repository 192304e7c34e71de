/*
 * backpressure - is there room in the journal for more?
 *
 * There is none when the disk or the map is full, or when indexing lags too
 * far behind.  Indexed entries are purged when they are old, when they are
 * many, or when room is short.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BACKPRESSURE_H
#define AGGREGATOR_INGEST_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"

/* The indexer, as seen by the writer of the journal. */
struct backpressure_follower {
	void *arg;
	void (*wake)(void *arg);         /* there are new entries */
	uint64_t (*position)(void *arg); /* entries up to here may be purged */
};

/* Plain values; initialized with the first four fields and zeros. */
struct backpressure {
	struct journal *journal;
	struct backpressure_follower follower;
	uint64_t journal_bytes;
	int64_t keep_ns;

	bool full, lagging;
	uint64_t indexing_lag_bytes; /* not indexed yet */
	uint64_t failures, purged;
	int64_t retry_ns; /* while full: do not try before this time */
	int64_t complained_ns;
};

enum receiver_room backpressure_check(
    struct backpressure *backpressure, int64_t now_ns);

/* A commit found the disk or map full; a commit succeeded. */
void backpressure_is_full(
    struct backpressure *backpressure, int64_t now_ns, const struct err *err);
void backpressure_is_there(struct backpressure *backpressure);

/* Within the journal's transaction: purge at most `entries` of the oldest
 * entries; returns how many. */
uint32_t backpressure_purge(
    struct backpressure *backpressure, uint32_t entries);

/* Purge in a transaction of its own, for when nothing else is committed.
 * Writes only when there is something to purge, and, when no sender has tried
 * for ten seconds, to find out whether there is room again.  DB_FULL: there is
 * none, as after backpressure_is_full. */
enum db_result backpressure_purge_alone(
    struct backpressure *backpressure, uint32_t entries, struct err *err);

#endif
