/*
 * ingest_board - the counters of ingest, for other threads.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/board.h"

void
ingest_board_init(struct ingest_board *board)
{
	*board = (struct ingest_board){ .now = { .commits = 0 } };
	pthread_mutex_init(&board->lock, NULL);
}

void
ingest_board_clear(struct ingest_board *board)
{
	pthread_mutex_destroy(&board->lock);
}

static void
collect_journal(
    struct ingest_status *now, const struct backpressure *backpressure)
{
	now->first = journal_first(backpressure->journal);
	now->next = journal_next(backpressure->journal);
	now->full = backpressure->full;
	memcpy(now->full_why, backpressure->full_why, sizeof(now->full_why));
	now->lagging = backpressure->lagging;
	now->paced = backpressure->pace.paced;
	now->indexing_rate = (uint64_t)backpressure->pace.indexing;
	now->admission_rate = (uint64_t)backpressure->pace.rate;
	now->deferred = backpressure->pace.deferred;
	now->indexing_lag_bytes = backpressure->indexing_lag_bytes;
	now->commit_failures = backpressure->failures;
	now->purged = backpressure->purged;
}

static void
collect_connections(
    struct ingest_status *now, const struct zsock_counters *connections)
{
	now->malformed = connections->malformed;
	now->accepts_failed = connections->accepts_failed;
	now->connections_evicted = connections->connections_evicted;
	now->connections_throttled = connections->connections_throttled;
	now->connections_dropped = connections->connections_dropped;
	now->unkeyed = connections->unkeyed;
	now->handshakes_failed = connections->handshakes_failed;
	now->peers = connections->peers;
}

void
ingest_board_publish(struct ingest_board *board,
    const struct receiver *receiver, const struct backpressure *backpressure,
    const struct zsock *zsock)
{
	board->now.receiver = *receiver_counters(receiver);
	collect_journal(&board->now, backpressure);
	collect_connections(&board->now, zsock_counters(zsock));
	pthread_mutex_lock(&board->lock);
	board->published = board->now;
	pthread_mutex_unlock(&board->lock);
}

void
ingest_board_get(struct ingest_board *board, struct ingest_status *status)
{
	pthread_mutex_lock(&board->lock);
	*status = board->published;
	pthread_mutex_unlock(&board->lock);
}
