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

struct ingest_board {
	struct ingest_status now; /* the loop's: what it counts itself */
	struct ingest_status shown;
	pthread_mutex_t lock; /* of `shown` */
};

void ingest_board_init(struct ingest_board *board);
void ingest_board_clear(struct ingest_board *board);

/* Put up what `now` says, and what the parts say of themselves. */
void ingest_board_put(struct ingest_board *board,
    const struct receiver *receiver, const struct backpressure *backpressure,
    const struct zsock *zsock);
/* From any thread: what was put up last. */
void ingest_board_get(struct ingest_board *board, struct ingest_status *status);

#endif
