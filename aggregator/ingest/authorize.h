/*
 * authorize - may this message be kept, as far as keys go?
 *
 * The gate judges the header.  A key that is bound to some nodes speaks for
 * no others in the records of a batch either.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INGEST_AUTHORIZE_H
#define AGGREGATOR_INGEST_AUTHORIZE_H

#include "proto/auth/auth.h"
#include "proto/auth/rate_limit.h"
#include "proto/wire/wire.h"

struct authorize {
	struct auth *auth; /* NULL: everybody may */
	struct rate_limit *rate_limit;
	struct wire_room room;
	uint64_t limited; /* batches reported to wait */
};

void authorize_init(
    struct authorize *authorize, struct auth *auth, uint64_t key_bytes);
void authorize_clear(struct authorize *authorize);

/* True also for a frame that cannot be read: keep refuses that, whoever sends
 * it.  False: may not, or not yet; then `*answered` whether it is reported, and
 * what. */
bool authorize_judge(struct authorize *authorize, const struct message *message,
    int64_t now_ns, struct wire_header *answer, bool *answered);
/* So the aggregator answered: what it acknowledged counts for the key. */
void authorize_note(struct authorize *authorize, const struct message *message,
    int64_t now_ns, const struct wire_header *answer);

#endif
