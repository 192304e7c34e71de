/*
 * batcher - makes batches of what callers put, and commits many puts at once.
 *
 * The records of a put go together into the open batch of their partition; a
 * batch is sealed into the spool when it is full, and all are when
 * batcher_commit is called (once a round of the loop).  A put is settled after
 * the commit: only then is it on disk.  An event whose uuid was seen lately is
 * passed over: it is on disk already; so is a put whose session and number
 * were.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_BATCHER_H
#define AGENTS_ACCEPT_BATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/spool.h"
#include "proto/base/err.h"
#include "proto/wire/wire.h"

enum batcher_result {
	BATCHER_OK,
	BATCHER_FULL,      /* the spool's bound; nothing was taken */
	BATCHER_IO,        /* the disk refused */
	BATCHER_MALFORMED, /* holds a record that only keepers send */
};

struct batcher_outcome {
	enum batcher_result result;
	uint32_t stream;
	/* The batches that the put is in.  Of a put without new records: all
	 * that are not acknowledged. */
	uint64_t from, upto;
};

/* What a caller wants back when its put is settled. */
struct batcher_ticket {
	void (*on_settled)(const struct batcher_ticket *ticket,
	    const struct batcher_outcome *outcome);
	void *arg;
	uint64_t client, number; /* the caller's business, as are: */
	int64_t sent_ns;
	bool wait;
};

struct batcher_options {
	struct spool *spool;         /* must outlive it */
	struct text partition, node; /* for puts that name none */
	bool compress;
};

struct batcher_counters {
	uint64_t records, repeated; /* taken; passed over as seen */
	uint64_t puts, full, failed;
	uint64_t commits;
};

struct batcher; /* opaque */

void batcher_new(
    struct batcher **batcher, const struct batcher_options *options);
void batcher_free(struct batcher **batcher);

/* Learn the uuids and the numbers of the last puts that the spool holds (after
 * a start). */
void batcher_recall(struct batcher *batcher);

/* Take the records of a put that wire_body has passed.  BATCHER_OK: the ticket
 * will be settled by batcher_commit; anything else: nothing was taken and the
 * ticket is not used.  Call batcher_commit first when batcher_is_due. */
enum batcher_result batcher_put(struct batcher *batcher,
    const struct batcher_ticket *ticket, const struct wire_header *header,
    struct text plain, struct err *err);
bool batcher_is_due(const struct batcher *batcher);

/* Put what is gathered on disk and settle the tickets, in their order.  Not
 * to be called from on_settled. */
enum batcher_result batcher_commit(struct batcher *batcher, struct err *err);

const struct batcher_counters *batcher_counters(const struct batcher *batcher);

#endif
