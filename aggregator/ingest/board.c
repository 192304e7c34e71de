/*
 * ingest_board - what an intake tells other threads.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/board.h"

void
intake_board_init(struct intake_board *board)
{
	*board = (struct intake_board){ .now = { .commits = 0 } };
	pthread_mutex_init(&board->lock, NULL);
}

void
intake_board_clear(struct intake_board *board)
{
	pthread_mutex_destroy(&board->lock);
}

static void
gather_room(struct intake_status *now, const struct room *room)
{
	now->first = journal_first(room->journal);
	now->next = journal_next(room->journal);
	now->full = room->full;
	now->behind = room->behind;
	now->behind_bytes = room->behind_bytes;
	now->commit_failures = room->failures;
	now->purged = room->purged;
}

static void
gather_port(struct intake_status *now, const struct port_counters *port)
{
	now->malformed = port->malformed;
	now->accepts_failed = port->accepts_failed;
	now->turned_away = port->turned_away;
	now->held_off = port->held_off;
	now->cut = port->cut;
	now->unkeyed = port->unkeyed;
	now->handshakes_failed = port->handshakes_failed;
	now->peers = port->peers;
}

void
intake_board_put(struct intake_board *board, const struct keep *keep,
    const struct room *room, const struct port *port)
{
	board->now.keep = *keep_counters(keep);
	gather_room(&board->now, room);
	gather_port(&board->now, port_counters(port));
	pthread_mutex_lock(&board->lock);
	board->shown = board->now;
	pthread_mutex_unlock(&board->lock);
}

void
intake_board_get(struct intake_board *board, struct intake_status *status)
{
	pthread_mutex_lock(&board->lock);
	*status = board->shown;
	pthread_mutex_unlock(&board->lock);
}
