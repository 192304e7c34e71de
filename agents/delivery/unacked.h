/*
 * unacked - what was packed and is not acknowledged yet, in memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_UNACKED_H
#define AGENTS_DELIVERY_UNACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/sender.h"

enum {
	UNACKED_BODY_BYTES = 60 << 10,  /* of a batch, to aim at */
	UNACKED_WINDOW_BYTES = 1 << 20, /* then wait for acknowledgements */
};

struct batch {
	struct batch *next;
	uint64_t seq, chain; /* chain: before it */
	uint32_t records, codec;
	uint32_t bytes, body_bytes; /* body_bytes: decompressed */
	/* The owner's business: */
	uint64_t file_bytes;
	uint32_t rows;
	bool sent;
	unsigned char body[];
};

/* All zero to begin with. */
struct unacked {
	struct batch *oldest, *newest;
	struct batch *at; /* the last one that was found */
	uint64_t bytes;   /* of the bodies */
};

/* Behind the others: its sequence number is the next one.  `like` says all but
 * `next` and `bytes`. */
void unacked_add(
    struct unacked *unacked, const struct batch *like, struct text body);
void unacked_drop_oldest(struct unacked *unacked);
void unacked_clear(struct unacked *unacked);

/* The first that is not before `seq`, or NULL. */
struct batch *unacked_find(struct unacked *unacked, uint64_t seq);
/* As struct sender_owner wants it; what is before `first` is gone. */
int unacked_read(struct unacked *unacked, uint64_t first, uint64_t seq,
    struct sender_batch *batch);

#endif
