/*
 * ingest_board - the counters of ingest and its parts, for other threads: the
 * loop's thread copies them after each group, other threads read them under a
 * lock.
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
	uint64_t commit_ns;    /* duration of the last commit */
	uint64_t answers_late; /* queue full: sent later */
	uint64_t
	    answers_dropped; /* the peer was gone, or its queue stayed full */
	uint64_t purged;     /* entries */
	uint64_t missing, missing_reported; /* batches; recorded as gaps */
	uint64_t first, next;               /* numbers of the journal */
	uint64_t indexing_lag_bytes;        /* not indexed yet */
	uint64_t malformed;                 /* malformed messages */
	uint64_t accepts_failed, connections_evicted, connections_dropped;
	uint64_t connections_throttled; /* times that the connection rate limit
					   was reached */
	uint64_t rate_limited; /* batches deferred: over the rate of a key */
	uint64_t unkeyed;      /* ... without a key, on a listener with keys */
	uint64_t handshakes_failed;
	uint32_t peers;
	bool full;    /* disk or map: waiting for room */
	bool lagging; /* waiting for the indexer */
};

struct ingest_board {
	struct ingest_status now; /* of the loop's thread: its own counters */
	struct ingest_status shown;
	pthread_mutex_t lock; /* protects `shown` */
};

void ingest_board_init(struct ingest_board *board);
void ingest_board_clear(struct ingest_board *board);

/* Publish `now` and the counters of the parts. */
void ingest_board_publish(struct ingest_board *board,
    const struct receiver *receiver, const struct backpressure *backpressure,
    const struct zsock *zsock);
/* From any thread: the counters published last. */
void ingest_board_get(struct ingest_board *board, struct ingest_status *status);

#endif
