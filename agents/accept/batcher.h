/*
 * batcher - collects submissions into batches, and commits many of them at
 * once.
 *
 * The records of a submission go together into the open batch of their
 * partition.  A batch is written to the spool when it is full; batcher_commit
 * (once a round of the loop) writes all of them.  A submission is settled
 * after the commit: only then is it on disk.  An event with a uuid
 * that its user has submitted is skipped, since it is on disk already; so is a
 * submission whose session and number this user has used.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_BATCHER_H
#define AGENTS_ACCEPT_BATCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/spool/spool.h"
#include "proto/base/err.h"
#include "proto/wire/wire.h"

enum batcher_result {
	BATCHER_OK,
	BATCHER_FULL,      /* the spool is full; nothing was taken */
	BATCHER_IO,        /* the disk failed */
	BATCHER_REFUSED,   /* no room for this partition; nothing was taken */
	BATCHER_MALFORMED, /* has a record of a kind that clients may not send
			    */
};

struct batcher_outcome {
	enum batcher_result result;
	uint32_t stream;
	/* The batches that have the submission's records.  Without new
	 * records (repeated): all unacknowledged batches, also those of
	 * earlier sessions. */
	uint64_t from, upto;
	bool repeated;
};

/* Passed back to the caller when its submission is settled. */
struct batcher_ticket {
	void (*on_settled)(const struct batcher_ticket *ticket,
	    const struct batcher_outcome *outcome);
	void *arg;
	uint64_t client, number; /* for the caller, as are the next two */
	int64_t sent_ns;
	bool wait;
	uid_t uid; /* who submits: two users are never repetitions */
};

struct batcher_options {
	struct spool *spool;         /* must outlive the batcher */
	struct text partition, node; /* for submissions that name none */
	bool compress;
	/* Why the aggregator does not take a stream, empty if that is not
	 * known; valid until the next call.  May be NULL. */
	void *arg;
	struct text (*forbids)(void *arg, uint32_t stream);
};

struct batcher_counters {
	uint64_t records, repeated;  /* taken; skipped as already seen */
	uint64_t puts, full, failed; /* `full` with the refused ones */
	uint64_t commits;
	uint64_t jobs; /* events job:start of this node */
};

struct batcher; /* opaque */

void batcher_new(
    struct batcher **batcher, const struct batcher_options *options);
void batcher_free(struct batcher **batcher);

/* Load the uuids and the numbers of the last submissions from the spool (after
 * a start). */
void batcher_load_dedup(struct batcher *batcher);

/* Take the records of a submission that wire_body has accepted.  BATCHER_OK:
 * batcher_commit will settle the ticket; otherwise nothing was taken and the
 * ticket is not used.  BATCHER_REFUSED: `err` has a sentence for the caller,
 * and others may have room.  Call batcher_commit first when batcher_is_due. */
enum batcher_result batcher_put(struct batcher *batcher,
    const struct batcher_ticket *ticket, const struct wire_header *header,
    struct text plain, struct err *err);
bool batcher_is_due(const struct batcher *batcher);

/* Write the collected batches to disk and settle the tickets, in their order.
 * Must not be called from on_settled. */
enum batcher_result batcher_commit(struct batcher *batcher, struct err *err);

const struct batcher_counters *batcher_counters(const struct batcher *batcher);

#endif
