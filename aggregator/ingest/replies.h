/*
 * replies - answers that wait for the commit.
 *
 * Acknowledgements are cumulative, so only the newest one of each stream and
 * peer is kept: a burst of batches costs one answer, and a small queue to the
 * peer is enough.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_REPLIES_H
#define AGGREGATOR_INGEST_REPLIES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/hash/hash.h"
#include "proto/net/zsock.h"
#include "proto/wire/wire.h"

enum { REPLIES_MAX = 512, REPLIES_SLOTS = 1024 };

struct reply {
	struct route route;
	struct wire_header header; /* its texts are in `names` */
	char names[3 * NAME_BYTES_MAX];
};

struct replies {
	uint32_t count;
	struct hash_key key;
	uint16_t slot[REPLIES_SLOTS]; /* index + 1 of the newest; 0: none */
	struct reply at[REPLIES_MAX];
};

void replies_init(struct replies *replies);

/* Copies header and route.  At most REPLIES_MAX between two clears. */
void replies_add(struct replies *replies, const struct route *route,
    const struct wire_header *header);

/* Send all of them with the current time.  Those whose queue is full stay, in
 * order; the others are removed.  Adds to `*gone` those whose peer has
 * disconnected. */
void replies_send(struct replies *replies, struct zsock *zsock, uint64_t *gone);

void replies_clear(struct replies *replies);

#endif
