/*
 * past_sessions - asks what the store has of sessions that the spool gave up.
 *
 * A spool that was copied or put back goes on under another session, and
 * nobody speaks for the one before.  So now and then the store is asked how far
 * it has that one, with a hello that changes nothing.  What it said once, or
 * acknowledged, and has no more (it was restored from a backup) is a gap in the
 * session of now, unless somebody brings it within a time.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_PAST_SESSIONS_H
#define AGENTS_DELIVERY_PAST_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/spool.h"
#include "proto/base/text.h"

struct past_sessions_options {
	struct spool *spool;
	struct text node;
	int64_t wait_ns; /* how long others may bring it */

	void *arg;
	bool (*send)(void *arg, struct text frame);
	/* Settle what was put into the spool: a gap follows. */
	void (*commit)(void *arg);
};

/* Plain values; begins as the options and zeros. */
struct past_sessions {
	struct past_sessions_options options;
	struct past_sessions_ask {
		struct session_id session;
		char partition[NAME_BYTES_MAX + 1];
		int64_t at_ns;    /* the next question, monotonic */
		int64_t stamp_ns; /* of the one under way; 0: none */
		uint64_t
		    missing_by; /* the generation that said it is missing it */
	} ask[SPOOL_PAST_SESSIONS_MAX];
	uint32_t asks;
	int64_t stamp_ns;  /* the last one given */
	uint64_t reported; /* batches that became gaps */
};

/* Ask what is due. */
void past_sessions_push(
    struct past_sessions *past_sessions, int64_t now_ns, int64_t wall_ns);
/* When something is due next, monotonic; 0: never. */
int64_t past_sessions_deadline_ns(const struct past_sessions *past_sessions);
/* An answer that no stream wanted; false: it is to no question of ours. */
bool past_sessions_receive(struct past_sessions *past_sessions,
    struct text frame, int64_t now_ns, int64_t wall_ns);

#endif
