/*
 * receiver - the receiver's half of the delivery protocol (proto/delivery.md,
 * "Receiver"): what to accept and what to answer.
 *
 * Frames go in, answers come out, without sockets or a clock, so that tests and
 * simulations can run it.  It works inside a transaction of the journal that
 * the caller begins and commits; an answer may be sent only after that commit.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_RECEIVER_H
#define AGGREGATOR_INGEST_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/ingest/pace.h"
#include "aggregator/journal/journal.h"
#include "proto/config/opt.h"
#include "proto/wire/wire.h"

enum {
	RECEIVER_CREDIT_BYTES = 512 << 10, /* per stream, unacknowledged */
	RECEIVER_FULL_RETRY_MS = 1000,
	RECEIVER_LAGGING_RETRY_MS = 250,
	RECEIVER_DAMAGED_RETRY_MS = 100,
};

struct receiver; /* opaque */

/* Is there room?  Without room new batches are refused, but batches that are
 * already stored are still acknowledged. */
enum receiver_room {
	RECEIVER_ROOM,
	RECEIVER_FULL,    /* disk or map */
	RECEIVER_LAGGING, /* indexing lags too far behind */
};

struct receiver_counters {
	uint64_t batches, records, bytes; /* stored; bytes of frames */
	uint64_t gaps;
	uint64_t rejected; /* of the batches: stored as rejected batches */
	uint64_t repeated; /* acknowledged, because they were stored already */
	uint64_t hellos, byes;
	uint64_t sessions; /* new ones */
	uint64_t limited;  /* new ones deferred by the limit */
	uint64_t damaged;  /* messages of streams whose state cannot be read */
	uint64_t nacks[WIRE_REASONS];
	uint64_t faults[WIRE_FAULTS]; /* of frames, and of rejected batches */
};

/* `sessions_per_hour`: new sessions of one node, 0: no limit. */
struct receiver *receiver_new(
    struct journal *journal, uint64_t sessions_per_hour);
/* Change the limit; the sessions counted in this hour still count. */
void receiver_change(struct receiver *receiver, uint64_t sessions_per_hour);
void receiver_free(struct receiver **receiver);
/* Accept new partitions only if they match one of these patterns (text_match),
 * which must outlive the receiver; NULL or none: accept all. */
void receiver_accept(
    struct receiver *receiver, const struct opt_list *patterns);

/* Admit new batches at this pace, which must outlive the receiver; NULL, as at
 * first: at any. */
void receiver_set_pace(struct receiver *receiver, struct pace *pace);

/* Process one frame of this sender (auth_sender).  True: send `*answer` once
 * the transaction is committed; its texts are views into the frame.
 * received_ns: wall clock. */
bool receiver_take(struct receiver *receiver, struct text frame,
    uint64_t sender, int64_t received_ns, enum receiver_room room,
    struct wire_header *answer);

/* Does the transaction have changes that must be on disk before the answers? */
bool receiver_is_dirty(const struct receiver *receiver);

/* The transaction was committed, or has failed and its content is lost: update
 * the counters.  After a failure receiver_withdraw must turn every answer into
 * one that is true without it. */
void receiver_committed(struct receiver *receiver);
void receiver_failed(struct receiver *receiver);
void receiver_withdraw(struct receiver *receiver, struct wire_header *answer);

/* The last acknowledged entry of a partition, or a later one (newest.h).  From
 * any thread. */
uint64_t receiver_newest(
    const struct receiver *receiver, struct text partition);

/* Counters of committed transactions. */
const struct receiver_counters *receiver_counters(
    const struct receiver *receiver);

#endif
