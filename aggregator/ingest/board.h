/*
 * ingest_board - the counters of ingest and its parts, for other threads.
 *
 * The loop's thread publishes a copy after each group; other threads read it
 * under a lock.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_BOARD_H
#define AGGREGATOR_INGEST_BOARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/backpressure.h"
#include "aggregator/ingest/receiver.h"
#include "proto/net/zsock.h"

struct ingest_status {
	struct receiver_counters receiver;
	uint64_t commits, commit_failures;
	uint64_t commit_ns;          /* duration of the last commit */
	uint64_t answers_late;       /* queue full: sent later */
	uint64_t answers_dropped;    /* peer gone, or queue full for too long */
	uint64_t purged;             /* journal entries */
	uint64_t sessions_collected; /* ended ones, whose rows were removed */
	uint64_t first, next;        /* numbers of the journal */
	uint64_t indexing_lag_bytes; /* of entries that are not indexed yet */
	uint64_t malformed;          /* messages */
	/* As in struct zsock_counters. */
	uint64_t accepts_failed, connections_evicted, connections_dropped;
	uint64_t connections_throttled;
	uint64_t rate_limited; /* batches deferred by the rate of a key */
	uint64_t unkeyed; /* messages without a key, at a listener with keys */
	uint64_t handshakes_failed;
	uint32_t peers;
	int64_t broker_ns; /* a broker of this host brought a batch; 0: none */
	bool full;         /* disk or map: waiting for room */
	char full_why[BACKPRESSURE_WHY_BYTES]; /* which limit was met */
	/* Waiting for the indexer, and admitting at its rate. */
	bool lagging, paced;
	uint64_t indexing_rate, admission_rate; /* bytes a second */
	uint64_t deferred; /* batches that had to wait for their turn */
};

struct ingest_board {
	struct ingest_status now; /* of the loop's thread */
	struct ingest_status published;
	pthread_mutex_t lock; /* protects `published` */
};

void ingest_board_init(struct ingest_board *board);
void ingest_board_clear(struct ingest_board *board);

/* Publish `now` and the counters of the parts. */
void ingest_board_publish(struct ingest_board *board,
    const struct receiver *receiver, const struct backpressure *backpressure,
    const struct zsock *zsock);
/* The counters published last; from any thread. */
void ingest_board_get(struct ingest_board *board, struct ingest_status *status);

#endif
