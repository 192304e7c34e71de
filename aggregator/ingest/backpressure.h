/*
 * backpressure - is there room in the journal for more?
 *
 * Two ways to have none: disk or map are full, or the indexer is too far
 * behind. And the way to make some: entries that the indexer has passed are
 * purged when they are old, when they are many, or when room is short.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BACKPRESSURE_H
#define AGGREGATOR_INGEST_BACKPRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"

/* The indexer, as the journal's writer sees it. */
struct backpressure_follower {
	void *arg;
	void (*wake)(void *arg);         /* there is something new */
	uint64_t (*position)(void *arg); /* numbers up to here may go */
};

/* Plain values; begins as the first four fields and zeros. */
struct backpressure {
	struct journal *journal;
	struct backpressure_follower follower;
	uint64_t journal_bytes;
	int64_t keep_ns;

	bool full, behind;
	uint64_t behind_bytes; /* not indexed yet */
	uint64_t failures, purged;
	int64_t retry_ns; /* while full: nothing is tried before this */
	int64_t complained_ns;
};

enum receiver_room backpressure_look(
    struct backpressure *backpressure, int64_t now_ns);

/* A commit found disk or map full; or kept something. */
void backpressure_is_full(
    struct backpressure *backpressure, int64_t now_ns, const struct err *err);
void backpressure_is_there(struct backpressure *backpressure);

/* Within the journal's transaction: how many of the oldest entries were
 * removed, at most `entries`. */
uint32_t backpressure_purge(
    struct backpressure *backpressure, uint32_t entries);

/* In a transaction of its own, for when nothing else is committed.  Writes
 * only when there is something to remove, and to find out whether there is
 * room again when no sender has tried for ten seconds.  DB_FULL: there is no
 * room, as after backpressure_is_full. */
enum db_result backpressure_purge_alone(
    struct backpressure *backpressure, uint32_t entries, struct err *err);

#endif
