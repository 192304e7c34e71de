/*
 * ingest - receive batches: group commit, then the answers.
 *
 * Runs in one thread, that of the loop.  All waiting messages (at most 4 MiB
 * or 20 ms of them) go into one transaction of the journal; when it is on
 * disk, all their answers are sent.  While that sync runs, the next group
 * collects in the sockets, so the groups grow with the load.  If the disk or
 * the map is full, or indexing lags too far behind, nothing is accepted and
 * senders are asked to wait.  A broken store ends the loop with status 1, and
 * nothing more is acknowledged.
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
	uint32_t connects_per_second; /* 0: no limit */
	uint64_t key_bytes;           /* per second; proto/auth/rate_limit.h */
	struct auth *auth;            /* who may send; NULL: everyone */
	uint64_t journal_bytes;  /* limit of entries not indexed (then refuse)
				    and of indexed ones (then purge) */
	int64_t journal_keep_ns; /* keep indexed entries this long */
	uint64_t sessions_per_hour; /* new ones of a node; 0: no limit */
	const struct opt_list
	    *accept;             /* patterns of new partitions; none: all */
	int64_t restore_wait_ns; /* then record what is missing as gaps:
				    restore_gaps.h */
};

int ingest_open(struct ingest **ingest, struct loop *loop,
    struct journal *journal, const struct ingest_options *options,
    const struct backpressure_follower *follower, struct err *err);
/* Use other journal_bytes, journal_keep_ns, sessions_per_hour and
 * restore_wait_ns from now on. */
void ingest_change(struct ingest *ingest, const struct ingest_options *options);
/* The server key has changed: bind the TCP listeners again. */
int ingest_rekey(struct ingest *ingest, struct err *err);
/* Accept no more; commit and answer what was received. */
void ingest_stop(struct ingest *ingest);
void ingest_close(struct ingest **ingest);

/* From any thread. */
void ingest_status(struct ingest *ingest, struct ingest_status *status);

#endif
