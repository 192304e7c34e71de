/*
 * dedup_uuid - which uuids were seen lately.
 *
 * Remembers 64-bit fingerprints (SipHash with a random key, so nobody can
 * choose two uuids that look alike) of at least the last DEDUP_UUID_KEPT uuids,
 * at most twice as many, in fixed memory. SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DEDUP_UUID_H
#define AGENTS_ACCEPT_DEDUP_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum { DEDUP_UUID_KEPT = 100000 };

struct dedup_uuid; /* opaque */

void dedup_uuid_new(struct dedup_uuid **dedup_uuid);
void dedup_uuid_free(struct dedup_uuid **dedup_uuid);

uint64_t dedup_uuid_fingerprint(
    const struct dedup_uuid *dedup_uuid, struct text uuid);
/* False when it was there already. */
bool dedup_uuid_add(struct dedup_uuid *dedup_uuid, uint64_t fingerprint);
/* As if it had not been added. */
void dedup_uuid_forget(struct dedup_uuid *dedup_uuid, uint64_t fingerprint);

#endif
