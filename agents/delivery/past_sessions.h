/*
 * past_sessions - asks what the store has of the spool's previous sessions.
 *
 * A spool that was copied or restored continues under a new session, and no
 * sender is left for the previous one.  This module therefore asks the store
 * regularly how far it has the previous session, with a hello that changes
 * nothing.  Batches that the store once reported or acknowledged and no longer
 * has (it was restored from a backup) become a gap in the current session,
 * unless another sender delivers them within a time.
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
	int64_t wait_ns; /* time for others to deliver the batches */

	void *arg;
	bool (*send)(void *arg, struct text frame);
	/* Commit what was written to the spool: a gap follows. */
	void (*commit)(void *arg);
};

/* Plain values; set the options, and zeros for the rest. */
struct past_sessions {
	struct past_sessions_options options;
	struct past_sessions_ask {
		struct session_id session;
		char partition[NAME_BYTES_MAX + 1];
		int64_t at_ns;    /* time of the next question, monotonic */
		int64_t stamp_ns; /* question in flight; 0: none */
		uint64_t
		    missing_by; /* generation that reported it as missing */
	} ask[SPOOL_PAST_SESSIONS_MAX];
	uint32_t asks;
	int64_t stamp_ns;  /* the last number given to a question */
	uint64_t reported; /* batches recorded as gaps */
};

/* Ask the questions that are due. */
void past_sessions_push(
    struct past_sessions *past_sessions, int64_t now_ns, int64_t wall_ns);
/* Time of the next question or gap, monotonic; 0: never. */
int64_t past_sessions_deadline_ns(const struct past_sessions *past_sessions);
/* Process an answer that belongs to no stream.  False: it answers no question
 * of ours. */
bool past_sessions_receive(struct past_sessions *past_sessions,
    struct text frame, int64_t now_ns, int64_t wall_ns);

#endif
