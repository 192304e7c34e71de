/*
 * definitions - may a submission define its metric groups so?
 *
 * Remembers what each user has defined since the start of the agent, so that a
 * definition that the aggregator would refuse is refused to who sends it.  Of
 * another user's definitions only the aggregator knows: a user cannot keep
 * others from a name here.  A bounded memory; what is forgotten, the aggregator
 * refuses.  Also bounds how many series there are (series_limit.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DEFINITIONS_H
#define AGENTS_ACCEPT_DEFINITIONS_H

#include <sys/types.h>

#include "proto/base/err.h"
#include "proto/wire/wire.h"

enum {
	DEFINITIONS_SLOTS = 1024,
	DEFINITIONS_BYTES_MAX = 1 << 20, /* of all lists of columns */
};

struct definitions; /* opaque */

void definitions_new(struct definitions **definitions);
void definitions_free(struct definitions **definitions);

/* Check the definitions of a submission of this user.  -1: the error names
 * group, column and what differs. */
int definitions_check(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text plain, struct err *err);
/* The submission was taken: remember its definitions. */
void definitions_note(struct definitions *definitions, uid_t uid,
    const struct wire_header *header, struct text plain);

#endif
