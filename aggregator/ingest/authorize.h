/*
 * authorize - may the key of a message send it?
 *
 * The authenticator checks the header.  This module checks the records of a
 * batch, too: a key that is limited to some nodes may not send or forward
 * records of others.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_AUTHORIZE_H
#define AGGREGATOR_INGEST_AUTHORIZE_H

#include "proto/auth/auth.h"
#include "proto/auth/rate_limit.h"
#include "proto/wire/wire.h"

struct authorize {
	struct auth *auth; /* NULL: everyone may send */
	struct rate_limit *rate_limit;
	struct wire_room room;
	uint64_t limited; /* batches deferred by the rate limit */
};

void authorize_init(
    struct authorize *authorize, struct auth *auth, uint64_t key_bytes);
void authorize_clear(struct authorize *authorize);

/* May the message be sent?  True also for a frame that cannot be read, which
 * the receiver refuses.  False: not, or not yet; `*answered` says whether an
 * answer is to be sent, and `answer` is that answer. */
bool authorize_check(struct authorize *authorize,
    const struct zsock_message *message, int64_t now_ns,
    struct wire_header *answer, bool *answered);
/* Count an acknowledged batch against the rate of the key. */
void authorize_note(struct authorize *authorize,
    const struct zsock_message *message, int64_t now_ns,
    const struct wire_header *answer);

#endif
