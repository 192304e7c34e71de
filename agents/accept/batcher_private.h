/*
 * batcher_private - what batcher.c (puts and what became of them) and
 * pending_batch.c (the batches they lie in) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_BATCHER_PRIVATE_H
#define AGENTS_ACCEPT_BATCHER_PRIVATE_H

#include "agents/accept/batcher.h"
#include "agents/accept/dedup_sequence.h"
#include "agents/accept/dedup_uuid.h"

enum {
	PENDING_BATCHES_MAX =
	    4, /* open at a time; the least recent is sealed */
	BATCHER_TICKETS_MAX = 1024, /* between two commits */
	BATCHER_PRINTS_MAX = 8192,
	/* A put always fits an empty lot, with a context record. */
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
	unsigned char *buffer; /* kept for the next lot */
};

struct batcher_pending {
	struct batcher_ticket ticket;
	uint32_t stream;
	uint64_t serial; /* 0: no new record of this put in any lot */
	uint64_t seq;
	enum batcher_result result;
	/* The client's session and number of it; zeros when it has none. */
	struct record_id put;
};

/* An event of this round, in case it must be forgotten. */
struct batcher_print {
	uint64_t fingerprint, serial;
	uint64_t seq; /* 0: its lot is not in the spool */
	uint32_t stream;
};

struct batcher {
	struct batcher_options options;
	struct dedup_uuid *dedup_uuid;
	struct dedup_sequence *dedup_sequence;
	struct pending_batch lots[PENDING_BATCHES_MAX];
	uint64_t serials, turn;
	unsigned char *packed; /* compressed body */
	struct batcher_pending pending[BATCHER_TICKETS_MAX];
	uint32_t tickets;
	struct batcher_print prints[BATCHER_PRINTS_MAX];
	uint32_t prints_used;
	uint64_t round_bytes;
	bool appended;             /* since the last commit */
	enum batcher_result worst; /* of the lots of this round */
	struct batcher_counters counters;
};

/* ---- lots ---- */

/* A lot for `bytes` more of the stream. */
struct pending_batch *pending_batch_for(struct batcher *batcher,
    uint32_t stream, bool urgent, uint32_t bytes, struct err *err);
/* Copy the records that are new.  Returns how many. */
uint32_t pending_batch_copy(struct batcher *batcher, struct pending_batch *lot,
    const struct wire_header *header, struct text plain);
/* Into the spool with it. */
void pending_batch_seal(
    struct batcher *batcher, struct pending_batch *lot, struct err *err);

/* ---- what became of them ---- */

/* Tell those who have records in a lot what became of it. */
void batcher_mark(struct batcher *batcher, const struct pending_batch *lot,
    enum batcher_result result, uint64_t seq);
/* The disk refused: what the spool had taken since its last commit is not
 * there any more. */
void batcher_take_back(struct batcher *batcher);

#endif
