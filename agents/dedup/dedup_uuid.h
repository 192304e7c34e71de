/*
 * dedup_uuid - remembers the recently seen uuids.
 *
 * It has 64-bit fingerprints (SipHash with a random key, so nobody can choose
 * two uuids with the same one) of at least the last DEDUP_UUID_MIN uuids, at
 * most twice as many, in fixed memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DEDUP_DEDUP_UUID_H
#define AGENTS_DEDUP_DEDUP_UUID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/text.h"

enum { DEDUP_UUID_MIN = 100000 };

struct dedup_uuid; /* opaque */

void dedup_uuid_new(struct dedup_uuid **dedup_uuid);
void dedup_uuid_free(struct dedup_uuid **dedup_uuid);

/* Of an event of this user: another one's with the same uuid is another
 * event. */
uint64_t dedup_uuid_fingerprint(
    const struct dedup_uuid *dedup_uuid, uid_t uid, struct text uuid);
/* False when it was already there. */
bool dedup_uuid_add(struct dedup_uuid *dedup_uuid, uint64_t fingerprint);
/* The event was not stored: forget it. */
void dedup_uuid_forget(struct dedup_uuid *dedup_uuid, uint64_t fingerprint);

#endif
