/*
 * dedup_sequence - which numbered puts of which clients were taken.
 *
 * A client that does not hear the answer to a put sends it again, under the
 * same session and number; taken twice it would be kept twice.  Remembers the
 * last number of the sessions that were heard last, in fixed memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DEDUP_SEQUENCE_H
#define AGENTS_ACCEPT_DEDUP_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

enum { DEDUP_SEQUENCE_SESSIONS = 8192 };

struct dedup_sequence; /* opaque */

void dedup_sequence_new(struct dedup_sequence **dedup_sequence);
void dedup_sequence_free(struct dedup_sequence **dedup_sequence);

/* Has this put a session and a number? */
bool dedup_sequence_is_numbered(const struct session_id *session, uint64_t seq);

/* False: this number, or a later one, was taken.  If not, it is now. */
bool dedup_sequence_take(struct dedup_sequence *dedup_sequence,
    const struct session_id *session, uint64_t seq);
/* As if the last one, `seq`, had not been taken. */
void dedup_sequence_forget(struct dedup_sequence *dedup_sequence,
    const struct session_id *session, uint64_t seq);

#endif
