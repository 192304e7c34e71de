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
	LIB_BATCH_BYTES =
	    WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
};

struct lib_batch {
	struct lib_ticks ticks;
	int64_t counted_ns; /* monotonic, when counters were looked at */
	uint32_t turn;      /* thread that comes first */
	/* Gaps: of the records dropped or refused, so many were told. */
	int64_t told_ns;
	uint64_t told[LIB_KINDS], refused[LIB_KINDS];
	uint64_t records[LIB_KINDS]; /* in hand */
	struct wire_writer body;
	unsigned char bytes[LIB_BATCH_BYTES];
};

/* A sender begins.  What of the losses was told stays told. */
void lib_batch_begin(struct lib_batch *batch);

/* Take what fits from the rings.  `node`: whose tracks they are.  False: there
 * is nothing to say. */
bool lib_batch_fill(struct lib_batch *batch, struct text node);
/* Nothing in hand. */
void lib_batch_empty(struct lib_batch *batch);

/* Records of the rings that are in hand. */
uint64_t lib_batch_records(const struct lib_batch *batch);

/* Those in hand are lost, and the next one tells. */
void lib_batch_refuse(struct lib_batch *batch);
/* The next one has the counters, due or not. */
void lib_batch_hurry(struct lib_batch *batch);
/* Whoever hears us from now on was told nothing yet. */
void lib_batch_announce_again(void);

#endif
