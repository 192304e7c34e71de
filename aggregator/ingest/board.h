/*
 * ingest_board - the counters of ingest and its parts, for other threads: the
 * loop's thread copies them after each group, other threads read them under a
 * lock.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BOARD_H
#define AGGREGATOR_INGEST_BOARD_H

#include <pthread.h>

#include "aggregator/ingest/ingest.h"

struct ingest_board {
	struct ingest_status now; /* of the loop's thread: its own counters */
	struct ingest_status shown;
	pthread_mutex_t lock; /* protects `shown` */
};

void ingest_board_init(struct ingest_board *board);
void ingest_board_clear(struct ingest_board *board);

/* Publish `now` and the counters of the parts. */
void ingest_board_put(struct ingest_board *board,
    const struct receiver *receiver, const struct backpressure *backpressure,
    const struct zsock *zsock);
/* From any thread: the counters published last. */
void ingest_board_get(struct ingest_board *board, struct ingest_status *status);

#endif
