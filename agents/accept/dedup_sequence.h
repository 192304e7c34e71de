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

enum { PUTS_SESSIONS = 8192 };

struct puts; /* opaque */

void puts_new(struct puts **puts);
void puts_free(struct puts **puts);

/* Has this put a session and a number? */
bool puts_is_numbered(const struct session_id *session, uint64_t seq);

/* False: this number, or a later one, was taken.  If not, it is now. */
bool puts_take(
    struct puts *puts, const struct session_id *session, uint64_t seq);
/* As if the last one, `seq`, had not been taken. */
void puts_forget(
    struct puts *puts, const struct session_id *session, uint64_t seq);

#endif
