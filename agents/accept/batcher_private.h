/*
 * batcher_private - shared by batcher.c (submissions and their results) and
 * pending_batch.c (the batches that have their records).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_BATCHER_PRIVATE_H
#define AGENTS_ACCEPT_BATCHER_PRIVATE_H

#include "agents/accept/batcher.h"
#include "agents/dedup/dedup_sequence.h"
#include "agents/dedup/dedup_uuid.h"

enum {
	PENDING_BATCHES_MAX =
	    4, /* open at a time; the least recently used is written first */
	BATCHER_TICKETS_MAX = 1024, /* between two commits */
	BATCHER_FINGERPRINTS_MAX = 8192,
	/* A submission always fits in an empty batch, with a context record. */
	PENDING_BATCH_BYTES = WIRE_PUT_BYTES_MAX + 512,
};

struct pending_batch {
	bool open, urgent;
	uint32_t stream;
	uint64_t serial;
	uint64_t used_at;          /* turn of the last use */
	char node[NAME_BYTES_MAX]; /* in force for the next record */
	uint32_t node_bytes;
	struct wire_writer writer;
	unsigned char *buffer; /* retained for the next batch */
};

struct batcher_pending {
	struct batcher_ticket ticket;
	uint32_t stream;
	uint64_t serial; /* 0: no batch has new records of this submission */
	uint64_t seq;
	enum batcher_result result;
	/* The client's session and the number of the submission in it; zeros
	 * if it has none. */
	struct record_id put;
};

/* An event of this round, to be forgotten if its batch is not stored. */
struct batcher_fingerprint {
	uint64_t fingerprint, serial;
	uint64_t seq; /* 0: its batch is not in the spool */
	uint32_t stream;
};

struct batcher {
	struct batcher_options options;
	struct dedup_uuid *dedup_uuid;
	struct dedup_sequence *dedup_sequence;
	struct pending_batch batches[PENDING_BATCHES_MAX];
	uint64_t serials, turn;
	unsigned char *packed; /* compressed body */
	struct batcher_pending pending[BATCHER_TICKETS_MAX];
	uint32_t tickets;
	struct batcher_fingerprint fingerprints[BATCHER_FINGERPRINTS_MAX];
	uint32_t fingerprints_used;
	uint64_t round_bytes;
	bool appended;             /* since the last commit */
	enum batcher_result worst; /* of the batches of this round */
	struct batcher_counters counters;
	int64_t repeated_logged_ns, refused_logged_ns;
};

/* ---- pending batches ---- */

/* The pending batch of the stream, with room for `bytes` more. */
struct pending_batch *pending_batch_for(struct batcher *batcher,
    uint32_t stream, bool urgent, uint32_t bytes, struct err *err);
/* Copy the records that are new from this user.  Returns their number. */
uint32_t pending_batch_copy(struct batcher *batcher,
    struct pending_batch *batch, uid_t uid, const struct wire_header *header,
    struct text plain);
/* Write it to the spool. */
void pending_batch_write(
    struct batcher *batcher, struct pending_batch *batch, struct err *err);

/* ---- results ---- */

/* Set the result of the submissions that have records in a batch. */
void batcher_mark(struct batcher *batcher, const struct pending_batch *batch,
    enum batcher_result result, uint64_t seq);
/* The disk failed: the spool has discarded everything since its last commit. */
void batcher_take_back(struct batcher *batcher);

#endif
