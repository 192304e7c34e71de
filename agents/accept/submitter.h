/*
 * submitter - records the user who submitted, as reported by the kernel, in
 * addition to the submission's own claims.
 *
 * Events, spans and entities of another user than the agent's get the
 * attribute submitter.uid; one of that name in the submission is removed.
 * Samples have no attributes, but the entity that describes their metric group
 * and names their track has them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_SUBMITTER_H
#define AGENTS_ACCEPT_SUBMITTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/wire/wire.h"

struct submitter; /* opaque: room for a submission */

void submitter_new(struct submitter **submitter);
void submitter_free(struct submitter **submitter);

/* `*plain` with the attribute added, if `uid` is another user's: a view, valid
 * until the next call.  False: a record or the submission has no room for it.
 */
bool submitter_put(struct submitter *submitter, uid_t uid,
    const struct wire_header *header, struct text *plain);

#endif
