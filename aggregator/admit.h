/*
 * admit - may this message be kept, as far as keys go?
 *
 * The gate judges the header.  A key that is bound to some nodes speaks for
 * no others in the records of a batch either.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIT_H
#define AGGREGATOR_ADMIT_H

#include "proto/gate.h"
#include "proto/wire.h"

struct admit {
	struct gate *gate; /* NULL: everybody may */
	struct wire_room room;
};

/* True also for a frame that cannot be read: keep refuses that, whoever sends
 * it.  Fills `header` before false. */
bool admit_judge(struct admit *admit, const struct message *message,
    struct wire_header *header);
void admit_clear(struct admit *admit);

/* The answer to who may not; false: none. */
bool admit_refusal(
    const struct wire_header *header, struct wire_header *answer);

#endif
