/*
 * ingest - receive batches: group commit, then the answers.
 *
 * Runs in the thread of the loop.  All waiting messages (at most 4 MiB or 20 ms
 * of them) go into one transaction of the journal; when it is on disk, all
 * their answers are sent.  During the sync the next group collects in the
 * sockets, so the groups grow with the load.  If the disk or the map is full,
 * or indexing lags too far behind, nothing is accepted and senders are asked to
 * wait.  After a failure of the journal nothing more is acknowledged, and the
 * loop ends with status 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_INGEST_H
#define AGGREGATOR_INGEST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/backpressure.h"
#include "aggregator/ingest/board.h"
#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"
#include "proto/auth/auth.h"
#include "proto/config/opt.h"
#include "proto/net/loop/loop.h"

struct ingest; /* opaque */

struct ingest_options {
	const struct opt_list *listen; /* endpoints, at least one */
	uint32_t queue_messages;       /* per peer and direction */
	bool insecure;
	uint32_t connects_per_second;  /* 0: no limit */
	uint64_t key_bytes_per_second; /* proto/auth/rate_limit.h */
	struct auth *auth;             /* who may send; NULL: everybody */
	/* More bytes that are not indexed: refuse batches; more that are
	 * indexed: purge them. */
	uint64_t journal_bytes;
	int64_t journal_keep_ns;    /* keep indexed entries this long */
	uint64_t sessions_per_hour; /* new ones of a node; 0: no limit */
	const struct opt_list
	    *accept; /* patterns of new partitions; none: all */
	/* How long records are kept (0: for ever); with them the rows of
	 * sessions that are derived from content. */
	int64_t retain_ns;
	/* May the wall clock be trusted to remove what is old?  NULL: never. */
	bool (*is_clock_right)(void *arg);
	void *arg;
};

int ingest_open(struct ingest **ingest, struct loop *loop,
    struct journal *journal, const struct ingest_options *options,
    const struct backpressure_follower *follower, struct err *err);
/* Use other journal_bytes, journal_keep_ns, sessions_per_hour and
 * retain_ns from now on. */
void ingest_change(struct ingest *ingest, const struct ingest_options *options);
/* The server key has changed: bind the TCP listeners again. */
int ingest_rekey(struct ingest *ingest, struct err *err);
/* Accept no more; commit and answer what was received. */
void ingest_stop(struct ingest *ingest);
void ingest_close(struct ingest **ingest);

/* From any thread. */
uint64_t ingest_newest(const struct ingest *ingest, struct text partition);
void ingest_status(struct ingest *ingest, struct ingest_status *status);

#endif
