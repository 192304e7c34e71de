/*
 * unacked - packed batches that are not acknowledged yet, in memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_UNACKED_H
#define AGENTS_DELIVERY_UNACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/sender.h"

enum {
	UNACKED_BODY_BYTES = 60 << 10, /* target size of a batch */
	UNACKED_WINDOW_BYTES =
	    1 << 20, /* above this, wait for acknowledgements */
};

struct batch {
	struct batch *next;
	uint64_t seq, chain; /* and the running hash before it */
	uint32_t records, codec;
	uint32_t bytes, body_bytes; /* body_bytes: decompressed */
	/* For the caller: */
	uint64_t file_bytes;
	uint32_t rows;
	bool sent;
	unsigned char body[];
};

/* Initialize with zeros. */
struct unacked {
	struct batch *oldest, *newest;
	struct batch *at; /* the one found last */
	uint64_t bytes;   /* of the bodies */
};

/* Append a batch with the next sequence number.  `like` has all members but
 * `next` and `bytes`. */
void unacked_add(
    struct unacked *unacked, const struct batch *like, struct text body);
void unacked_drop_oldest(struct unacked *unacked);
void unacked_clear(struct unacked *unacked);

/* The first batch at or after `seq`, or NULL. */
struct batch *unacked_find(struct unacked *unacked, uint64_t seq);
/* The `read` of struct sender_owner; batches before `first` are gone. */
int unacked_read(struct unacked *unacked, uint64_t first, uint64_t seq,
    struct sender_batch *batch);

#endif
