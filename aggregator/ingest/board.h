/*
 * ingest_board - what an intake tells other threads: its counters and those of
 * its parts, put up by the loop's thread after each group and read under a
 * lock.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BOARD_H
#define AGGREGATOR_INGEST_BOARD_H

#include <pthread.h>

#include "aggregator/ingest/ingest.h"

struct intake_board {
	struct intake_status now; /* the loop's: what it counts itself */
	struct intake_status shown;
	pthread_mutex_t lock; /* of `shown` */
};

void intake_board_init(struct intake_board *board);
void intake_board_clear(struct intake_board *board);

/* Put up what `now` says, and what the parts say of themselves. */
void intake_board_put(struct intake_board *board, const struct keep *keep,
    const struct room *room, const struct port *port);
/* From any thread: what was put up last. */
void intake_board_get(struct intake_board *board, struct intake_status *status);

#endif
