/*
 * batcher - makes batches of what callers put, and commits many puts at once.
 *
 * The records of a put go together into the open batch of their partition; a
 * batch is sealed into the spool when it is full, and all are when
 * gather_commit is called (once a round of the loop).  A put is settled after
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

enum gather_result {
	GATHER_OK,
	GATHER_FULL,      /* the spool's bound; nothing was taken */
	GATHER_IO,        /* the disk refused */
	GATHER_MALFORMED, /* holds a record that only keepers send */
};

struct gather_outcome {
	enum gather_result result;
	uint32_t stream;
	/* The batches that the put is in.  Of a put without new records: all
	 * that are not acknowledged. */
	uint64_t from, upto;
};

/* What a caller wants back when its put is settled. */
struct gather_ticket {
	void (*on_settled)(const struct gather_ticket *ticket,
	    const struct gather_outcome *outcome);
	void *arg;
	uint64_t client, number; /* the caller's business, as are: */
	int64_t sent_ns;
	bool wait;
};

struct gather_options {
	struct spool *spool;         /* must outlive it */
	struct text partition, node; /* for puts that name none */
	bool compress;
};

struct gather_counters {
	uint64_t records, repeated; /* taken; passed over as seen */
	uint64_t puts, full, failed;
	uint64_t commits;
};

struct gather; /* opaque */

void gather_new(struct gather **gather, const struct gather_options *options);
void gather_free(struct gather **gather);

/* Learn the uuids and the numbers of the last puts that the spool holds (after
 * a start). */
void gather_recall(struct gather *gather);

/* Take the records of a put that wire_body has passed.  GATHER_OK: the ticket
 * will be settled by gather_commit; anything else: nothing was taken and the
 * ticket is not used.  Call gather_commit first when gather_is_due. */
enum gather_result gather_put(struct gather *gather,
    const struct gather_ticket *ticket, const struct wire_header *header,
    struct text plain, struct err *err);
bool gather_is_due(const struct gather *gather);

/* Put what is gathered on disk and settle the tickets, in their order.  Not
 * to be called from on_settled. */
enum gather_result gather_commit(struct gather *gather, struct err *err);

const struct gather_counters *gather_counters(const struct gather *gather);

#endif
