/*
 * client_batch - the put in hand: what the library's thread says next.
 *
 * Gaps, counters, then the records of the rings, thread by thread; with them
 * what the agent has to know of a thread or a counter before it hears of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_BATCH_H
#define AGENTS_CLIENT_BATCH_H

#include "agents/client/client_private.h"

enum {
	CLIENT_BATCH_BYTES =
	    WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
};

struct client_batch {
	struct fast_clock ticks;
	int64_t counted_ns; /* monotonic, when counters were looked at */
	uint32_t turn;      /* thread that comes first */
	/* Gaps: of the records dropped or refused, so many were reported. */
	int64_t reported_ns;
	uint64_t reported[CLIENT_KINDS], refused[CLIENT_KINDS];
	uint64_t records[CLIENT_KINDS]; /* in hand */
	struct wire_writer body;
	unsigned char bytes[CLIENT_BATCH_BYTES];
};

/* A sender begins.  What of the losses was reported stays reported. */
void client_batch_begin(struct client_batch *batch);

/* Take what fits from the rings.  `node`: whose tracks they are.  False: there
 * is nothing to say. */
bool client_batch_fill(struct client_batch *batch, struct text node);
/* Nothing in hand. */
void client_batch_empty(struct client_batch *batch);

/* Records of the rings that are in hand. */
uint64_t client_batch_records(const struct client_batch *batch);

/* Those in hand are lost, and the next one tells. */
void client_batch_refuse(struct client_batch *batch);
/* The next one has the counters, due or not. */
void client_batch_hurry(struct client_batch *batch);
/* Whoever hears us from now on was reported nothing yet. */
void client_batch_announce_again(void);

#endif
