/*
 * backpressure - is there room in the journal for more?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/backpressure.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/os/clock.h"
#include "proto/os/log.h"

#define RETRY_NS NS_PER_SECOND
#define QUIET_NS (10 * NS_PER_SECOND)
#define WARN_NS  (60 * NS_PER_SECOND)

/* The log gets at most one line a minute. */
static void
note_waiting(struct backpressure *backpressure, int64_t now_ns)
{
	const struct pace *pace = &backpressure->pace;

	if (!pace->paced || (backpressure->warned_ns != 0 &&
				now_ns - backpressure->warned_ns < WARN_NS))
		return;
	log_warn("indexing is behind (%" PRIu64
		 " MiB in the journal); senders wait: %.1f MB/s are indexed",
	    backpressure->indexing_lag_bytes >> 20, pace->indexing / 1e6);
	backpressure->warned_ns = now_ns;
}

enum receiver_room
backpressure_check(struct backpressure *backpressure, int64_t now_ns)
{
	backpressure->indexing_lag_bytes =
	    journal_bytes_after(backpressure->journal,
		backpressure->follower.position(backpressure->follower.arg));
	/* The pace keeps the lag below this, unless the indexer stands still.
	 */
	backpressure->lagging =
	    backpressure->indexing_lag_bytes > backpressure->journal_bytes;
	pace_step(&backpressure->pace, now_ns, backpressure->indexing_lag_bytes,
	    backpressure->journal_bytes);
	note_waiting(backpressure, now_ns);
	if (backpressure->full && now_ns < backpressure->retry_ns)
		return RECEIVER_FULL;
	return backpressure->lagging ? RECEIVER_LAGGING : RECEIVER_ROOM;
}

void
backpressure_set_full(
    struct backpressure *backpressure, int64_t now_ns, const struct err *err)
{
	backpressure->failures++;
	backpressure->retry_ns = now_ns + RETRY_NS;
	if (!backpressure->full)
		log_error("the journal is full; asking senders to wait: %s",
		    err->text);
	backpressure->full = true;
	snprintf(backpressure->full_why, sizeof(backpressure->full_why), "%.*s",
	    BACKPRESSURE_WHY_BYTES - 1, err->text);
}

void
backpressure_set_room(struct backpressure *backpressure)
{
	if (backpressure->full)
		log_info("the journal has room again; accepting batches");
	backpressure->full = false;
	backpressure->full_why[0] = '\0';
}

uint32_t
backpressure_purge(struct backpressure *backpressure, uint32_t entries)
{
	uint64_t upto =
	    backpressure->follower.position(backpressure->follower.arg);
	int64_t before_ns = clock_wall_ns() - backpressure->keep_ns;

	/* Without room purge every indexed entry, whatever its age. */
	if (backpressure->full)
		before_ns = INT64_MAX;
	return journal_purge(backpressure->journal, upto, before_ns,
	    backpressure->journal_bytes, entries);
}

static enum db_result
purge_alone(
    struct backpressure *backpressure, uint32_t entries, struct err *err)
{
	enum db_result result;
	uint32_t purged;
	bool quiet;

	if (journal_begin(backpressure->journal, err) != 0)
		return DB_BROKEN;
	purged = backpressure_purge(backpressure, entries);
	result = journal_commit(backpressure->journal, err);
	if (result != DB_OK)
		return result;
	backpressure->purged += purged;
	if (!backpressure->full)
		return DB_OK;
	quiet = clock_monotonic_ns() - backpressure->retry_ns >= QUIET_NS;
	if (purged == 0 && !quiet)
		return DB_OK;
	result = journal_commit_empty(backpressure->journal, err);
	/* The commit has succeeded, so there is room again. */
	if (result == DB_OK && quiet)
		backpressure_set_room(backpressure);
	return result;
}

enum db_result
backpressure_purge_alone(
    struct backpressure *backpressure, uint32_t entries, struct err *err)
{
	enum db_result result = purge_alone(backpressure, entries, err);

	if (result == DB_FULL)
		backpressure_set_full(backpressure, clock_monotonic_ns(), err);
	return result;
}
