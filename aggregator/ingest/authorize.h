/*
 * authorize - may the key of a message send it?
 *
 * The authenticator checks the header.  This module also checks the rate of the
 * key, and the records of a batch: a key that is limited to some nodes must not
 * send or forward records of others.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_AUTHORIZE_H
#define AGGREGATOR_INGEST_AUTHORIZE_H

#include "proto/auth/auth.h"
#include "proto/auth/rate_limit.h"
#include "proto/wire/wire.h"

struct authorize {
	struct auth *auth; /* NULL: everybody may send */
	struct rate_limit *rate_limit;
	struct wire_room room;
	uint64_t limited; /* batches deferred by the rate limit */
};

void authorize_init(struct authorize *authorize, struct auth *auth,
    uint64_t key_bytes_per_second);
void authorize_clear(struct authorize *authorize);

/* May the sender send this message, now?  Also true for a frame that cannot be
 * read, which the receiver refuses.  If false, send `answer`. */
bool authorize_check(struct authorize *authorize,
    const struct zsock_message *message, int64_t now_ns,
    struct wire_header *answer);
/* Charge a batch to its key if `answer` is an acknowledgement. */
void authorize_note(struct authorize *authorize,
    const struct zsock_message *message, int64_t now_ns,
    const struct wire_header *answer);

#endif
