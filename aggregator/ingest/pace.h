/*
 * pace - admits batches at the rate at which they are indexed.
 *
 * Without it senders would fill the journal at full speed, stop until a part
 * of it is indexed, and start again.  While less than a quarter of the journal
 * waits to be indexed, everything is admitted.  Above that the rate is a
 * multiple of the rate of the indexer, which falls from 4 to 0.7 as the journal
 * fills, so that it settles where three quarters of the journal wait.  A batch
 * that comes too early is answered with the time when there is room: refused
 * batches get their turns one after the other (a virtual schedule, as in GCRA,
 * ITU-T I.371), so that who asks often gains nothing.
 *
 * Plain values and no clock: the caller passes times.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_PACE_H
#define AGGREGATOR_INGEST_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACE_POINTS = 16,        /* of the last 2 s */
	PACE_STREAM_BITS = 4096, /* for a count of streams */
};

/* Initialize with zeros. */
struct pace {
	bool paced;        /* or everything is admitted */
	double indexing;   /* bytes a second, mean of the last 2 s */
	double rate;       /* bytes a second that are admitted while paced */
	uint64_t admitted; /* bytes so far */
	uint64_t deferred; /* batches that had to wait */
	int64_t now_ns;    /* of the last pace_step */
	int64_t free_ns;   /* the next batch is admitted from here on */
	int64_t turn_ns;   /* the last turn that was given away */
	uint32_t streams;  /* that were admitted in the last second */
	/* Bytes that were indexed by these times. */
	struct pace_point {
		int64_t at_ns;
		uint64_t indexed;
	} point[PACE_POINTS];
	uint32_t points;
	uint64_t lag;
	int64_t second_ns; /* in which streams are counted */
	uint32_t counted;
	uint64_t seen[PACE_STREAM_BITS / 64];
};

/* It is `now_ns` (monotonic), `lag` bytes of the journal wait to be indexed,
 * and `limit` may wait. */
void pace_step(struct pace *pace, int64_t now_ns, uint64_t lag, uint64_t limit);

/* Admit a batch of `bytes` of the stream with this hash: 0; or the ms after
 * which it has its turn. */
uint32_t pace_take(struct pace *pace, uint32_t bytes, uint64_t stream);

/* How many bytes a stream may have under way: at most `most`. */
uint32_t pace_credit(const struct pace *pace, uint32_t most);

#endif
