/*
 * failover - which of several brokers to use: one at a time.
 *
 * No clock and no socket: time and signs of life come in.  An endpoint without
 * a sign of life is given up after a patience of 1 to 2 s; when none of them
 * answers the patience doubles with each round, up to 32 to 64 s.  The jitter
 * keeps the agents of a dead broker from coming to the next one all at once.
 * Nobody goes back to an earlier one before this one fails, too.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_FAILOVER_H
#define AGENTS_DELIVERY_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

enum { FAILOVER_ENDPOINTS_MAX = 8 };

struct failover {
	uint32_t endpoints; /* how many there are */
	uint32_t at;        /* the one in use */
	uint32_t mute;      /* moves since an answer */
	uint64_t moves;     /* ever */
	uint64_t random;
	int64_t until_ns; /* in trouble: move on then; 0: no trouble */
};

void failover_init(
    struct failover *failover, uint32_t endpoints, uint64_t seed);

/* An answer came from the one in use; true: the first since a move. */
bool failover_answered(struct failover *failover);

/* Is there trouble: no connection, or no answer in time?  True: patience is
 * at its end, `at` is the next one: connect to it. */
bool failover_look(struct failover *failover, bool trouble, int64_t now_ns);

/* The one in use will not do: on to the next without patience.  False: each
 * of them was tried since an answer. */
bool failover_pass_by(struct failover *failover);

#endif
