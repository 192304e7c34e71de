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
gather_room(struct ingest_status *now, const struct backpressure *backpressure)
{
	now->first = journal_first(backpressure->journal);
	now->next = journal_next(backpressure->journal);
	now->full = backpressure->full;
	now->behind = backpressure->behind;
	now->behind_bytes = backpressure->behind_bytes;
	now->commit_failures = backpressure->failures;
	now->purged = backpressure->purged;
}

static void
gather_port(struct ingest_status *now, const struct zsock_counters *port)
{
	now->malformed = port->malformed;
	now->accepts_failed = port->accepts_failed;
	now->connections_evicted = port->connections_evicted;
	now->connections_throttled = port->connections_throttled;
	now->cut = port->cut;
	now->unkeyed = port->unkeyed;
	now->handshakes_failed = port->handshakes_failed;
	now->peers = port->peers;
}

void
ingest_board_put(struct ingest_board *board, const struct receiver *receiver,
    const struct backpressure *backpressure, const struct zsock *zsock)
{
	board->now.keep = *receiver_counters(receiver);
	gather_room(&board->now, backpressure);
	gather_port(&board->now, zsock_counters(zsock));
	pthread_mutex_lock(&board->lock);
	board->shown = board->now;
	pthread_mutex_unlock(&board->lock);
}

void
ingest_board_get(struct ingest_board *board, struct ingest_status *status)
{
	pthread_mutex_lock(&board->lock);
	*status = board->shown;
	pthread_mutex_unlock(&board->lock);
}
