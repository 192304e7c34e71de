/*
 * ingest - the listener where batches come in: group commit, then the answers.
 *
 * One thread, the loop's.  All that is waiting (at most 4 MiB or 20 ms of it)
 * goes into one transaction of the journal; when it is on disk all its answers
 * leave.  While that sync runs the next group gathers in the sockets, so the
 * groups grow with the load by themselves.  Disk or map full, or a indexer that
 * does not follow: nothing is taken and senders are reported to wait; a broken
 * store ends the loop with status 1, and nothing more is acknowledged.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_INGEST_H
#define AGGREGATOR_INGEST_INGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/backpressure.h"
#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/journal.h"
#include "proto/auth/auth.h"
#include "proto/config/opt.h"
#include "proto/net/loop.h"

struct ingest; /* opaque */

struct ingest_options {
	const struct opt_list *listen; /* endpoints, at least one */
	uint32_t queue_messages;       /* per peer, each way */
	bool insecure;
	uint32_t connects_per_second; /* 0: any number */
	uint64_t key_bytes;           /* a second; proto/auth/rate_limit.h */
	struct auth *auth;            /* who may send; NULL: everybody */
	uint64_t journal_bytes;  /* not indexed: then nothing is taken; indexed:
				    then the oldest go */
	int64_t journal_keep_ns; /* indexed entries stay this long */
	uint64_t sessions_per_hour;  /* new ones of a node; 0: no limit */
	const struct opt_list *owns; /* patterns: new partitions; none: any */
	int64_t restore_wait_ns;     /* then what is missing becomes gaps:
					restore_gaps.h */
};

int ingest_open(struct ingest **ingest, struct loop *loop,
    struct journal *journal, const struct ingest_options *options,
    const struct backpressure_follower *follower, struct err *err);
/* Other journal_bytes, journal_keep_ns, sessions_per_hour and restore_wait_ns
 * from now on. */
void ingest_change(struct ingest *ingest, const struct ingest_options *options);
/* The listener's key is another one: bind its TCP endpoints anew. */
int ingest_rekey(struct ingest *ingest, struct err *err);
/* Take no more; commit and answer what was taken. */
void ingest_stop(struct ingest *ingest);
void ingest_close(struct ingest **ingest);

struct ingest_status {
	struct receiver_counters keep;
	uint64_t commits, commit_failures;
	uint64_t commit_ns;       /* the last commit's duration */
	uint64_t answers_late;    /* queue full: sent again later */
	uint64_t answers_dropped; /* the peer was gone, or never took them */
	uint64_t purged;          /* entries */
	uint64_t missing, missing_reported; /* batches; became gaps */
	uint64_t first, next;               /* of the journal */
	uint64_t behind_bytes;              /* not indexed yet */
	uint64_t malformed;                 /* messages of a wrong shape */
	uint64_t accepts_failed, connections_evicted, cut; /* connections */
	uint64_t connections_throttled; /* times that too many came */
	uint64_t rate_limited; /* batches reported to wait: too much of a key */
	uint64_t unkeyed;      /* ... of nobody, at a listener with keys */
	uint64_t handshakes_failed;
	uint32_t peers;
	bool full;   /* disk or map: waits for room */
	bool behind; /* waits for the indexer */
};
/* From any thread. */
void ingest_status(struct ingest *ingest, struct ingest_status *status);

#endif
