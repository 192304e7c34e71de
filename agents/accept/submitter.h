/*
 * submitter - who handed a put over, as the kernel says, beside what it says of
 * itself.
 *
 * Events, spans and entities of another user than the agent's get the attribute
 * submitter.uid; one of that name that they brought is left out.  Samples have
 * no attributes, but what defines their set and names their track is an entity.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_SUBMITTER_H
#define AGENTS_ACCEPT_SUBMITTER_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/wire/wire.h"

#define SUBMITTER_KEY "submitter.uid"

struct submitter; /* opaque: room for a put */

void submitter_new(struct submitter **submitter);
void submitter_free(struct submitter **submitter);

/* `*plain` with the stamp, where `uid` is another user's: a view, valid until
 * the next call.  False: a record or the put has no room for it. */
bool submitter_put(struct submitter *submitter, uid_t uid,
    const struct wire_header *header, struct text *plain);

#endif
