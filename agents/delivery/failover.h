/*
 * failover - selects one of several brokers.
 *
 * It has no clock and no socket: the caller passes times and signs of life.
 * An endpoint without a sign of life is left after a retry time of 1 to 2 s.
 * When none of them answers, the retry time doubles with each round, up to 32
 * to 64 s.  Jitter keeps the agents of a failed broker from reaching the next
 * one all at once.  There is no fail-back: an earlier endpoint is used again
 * only after the current one has failed.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_FAILOVER_H
#define AGENTS_DELIVERY_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

enum { FAILOVER_ENDPOINTS_MAX = 8 };

struct failover {
	uint32_t endpoints;  /* number of endpoints */
	uint32_t at;         /* index of the endpoint in use */
	uint32_t unanswered; /* moves since the last answer */
	uint64_t moves;      /* total */
	uint64_t random;
	int64_t until_ns; /* no sign of life: move on at this time; 0: none
			     needed */
};

void failover_init(
    struct failover *failover, uint32_t endpoints, uint64_t seed);

/* The endpoint in use answered; true: the first answer since a move. */
bool failover_answered(struct failover *failover);

/* `trouble`: no connection, or no answer in time.  True: the retry time is
 * over and `at` is the next endpoint; connect to it. */
bool failover_check(struct failover *failover, bool trouble, int64_t now_ns);

/* The endpoint in use refuses: move to the next one at once.  False: every
 * endpoint was tried since the last answer. */
bool failover_skip(struct failover *failover);

#endif
