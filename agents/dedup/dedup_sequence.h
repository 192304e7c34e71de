/*
 * dedup_sequence - remembers the numbered submissions of clients.
 *
 * A client that gets no answer to a submission sends it again, under the same
 * session and number; taken twice it would be stored twice.  A session is one
 * of its user: who repeats that of another keeps out nothing.  This module
 * remembers the last number of the most recent sessions, in fixed memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DEDUP_DEDUP_SEQUENCE_H
#define AGENTS_DEDUP_DEDUP_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/record/record.h"

enum { DEDUP_SEQUENCE_SESSIONS = 8192 };

struct dedup_sequence; /* opaque */

void dedup_sequence_new(struct dedup_sequence **dedup_sequence);
void dedup_sequence_free(struct dedup_sequence **dedup_sequence);

/* Does this submission have a session and a number? */
bool dedup_sequence_is_numbered(const struct session_id *session, uint64_t seq);

/* False: this number, or a later one, was taken.  Otherwise remember it. */
bool dedup_sequence_take(struct dedup_sequence *dedup_sequence, uid_t uid,
    const struct session_id *session, uint64_t seq);
/* The submission with the session's last number, `seq`, was not stored: forget
 * it. */
void dedup_sequence_forget(struct dedup_sequence *dedup_sequence, uid_t uid,
    const struct session_id *session, uint64_t seq);

#endif
