/*
 * dedup_uuid - which uuids were seen lately.
 *
 * Remembers 64-bit fingerprints (SipHash with a random key, so nobody can
 * choose two uuids that look alike) of at least the last IDS_KEPT uuids, at
 * most twice as many, in fixed memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_DEDUP_UUID_H
#define AGENTS_ACCEPT_DEDUP_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum { IDS_KEPT = 100000 };

struct ids; /* opaque */

void ids_new(struct ids **ids);
void ids_free(struct ids **ids);

uint64_t ids_fingerprint(const struct ids *ids, struct text uuid);
/* False when it was there already. */
bool ids_add(struct ids *ids, uint64_t fingerprint);
/* As if it had not been added. */
void ids_forget(struct ids *ids, uint64_t fingerprint);

#endif
