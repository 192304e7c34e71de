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

struct admit {
	struct gate *gate; /* NULL: everybody may */
	struct meter *meter;
	struct wire_room room;
	uint64_t limited; /* batches told to wait */
};

void admit_init(struct admit *admit, struct gate *gate, uint64_t key_bytes);
void admit_clear(struct admit *admit);

/* True also for a frame that cannot be read: keep refuses that, whoever sends
 * it.  False: may not, or not yet; then `*answered` whether it is told, and
 * what. */
bool admit_judge(struct admit *admit, const struct message *message,
    int64_t now_ns, struct wire_header *answer, bool *answered);
/* So the keeper answered: what it acknowledged counts for the key. */
void admit_note(struct admit *admit, const struct message *message,
    int64_t now_ns, const struct wire_header *answer);

#endif
