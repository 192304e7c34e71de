/*
 * dedup_uuid - remembers the recently seen uuids.
 *
 * Two open-addressed tables: when the young one is full, it becomes the old
 * one, and the previous old one is emptied.
 * SPDX-License-Identifier: MIT
 */
#include "agents/dedup/dedup_uuid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/record/record.h"

enum { SLOTS = 1 << 17 }; /* a power of two, three quarters of it used */
enum { EMPTY = 0, FORGOTTEN = 1 };

struct dedup_uuid {
	struct hash_key key;
	uint64_t *young, *old;
	uint32_t used; /* slots of young in use */
};

void
dedup_uuid_new(struct dedup_uuid **made)
{
	struct dedup_uuid *dedup_uuid = memory_zero(1, sizeof(*dedup_uuid));

	dedup_uuid->key = hash_key_random();
	dedup_uuid->young = memory_zero(SLOTS, sizeof(*dedup_uuid->young));
	dedup_uuid->old = memory_zero(SLOTS, sizeof(*dedup_uuid->old));
	*made = dedup_uuid;
}

void
dedup_uuid_free(struct dedup_uuid **dedup_uuid)
{
	if (*dedup_uuid == NULL)
		return;
	free((*dedup_uuid)->young);
	free((*dedup_uuid)->old);
	free(*dedup_uuid);
	*dedup_uuid = NULL;
}

uint64_t
dedup_uuid_fingerprint(
    const struct dedup_uuid *dedup_uuid, uid_t uid, struct text uuid)
{
	unsigned char key[sizeof(uid) + RECORD_ID_BYTES] = { 0 };
	uint64_t print;

	assert(uuid.bytes == RECORD_ID_BYTES);
	memcpy(key, &uid, sizeof(uid));
	memcpy(key + sizeof(uid), uuid.at, RECORD_ID_BYTES);
	print = hash_bytes(dedup_uuid->key, key, sizeof(key));

	return print > FORGOTTEN ? print : print + 2;
}

/* Its slot, or the empty slot where the search for it ends. */
static uint64_t *
find(uint64_t *table, uint64_t fingerprint)
{
	uint64_t slot = fingerprint & (SLOTS - 1);

	while (table[slot] != EMPTY && table[slot] != fingerprint)
		slot = (slot + 1) & (SLOTS - 1);
	return &table[slot];
}

bool
dedup_uuid_add(struct dedup_uuid *dedup_uuid, uint64_t fingerprint)
{
	uint64_t *slot;

	if (*find(dedup_uuid->old, fingerprint) != EMPTY ||
	    *find(dedup_uuid->young, fingerprint) != EMPTY)
		return false;
	if (dedup_uuid->used == DEDUP_UUID_MIN) {
		uint64_t *empty = dedup_uuid->old;

		dedup_uuid->old = dedup_uuid->young;
		dedup_uuid->young = empty;
		memset(empty, 0, SLOTS * sizeof(*empty));
		dedup_uuid->used = 0;
	}
	slot = find(dedup_uuid->young, fingerprint);
	*slot = fingerprint;
	dedup_uuid->used++;
	return true;
}

void
dedup_uuid_forget(struct dedup_uuid *dedup_uuid, uint64_t fingerprint)
{
	uint64_t *slot = find(dedup_uuid->young, fingerprint);

	if (*slot == EMPTY)
		slot = find(dedup_uuid->old, fingerprint);
	/* Not emptied: other entries may follow in its probe sequence. */
	if (*slot != EMPTY)
		*slot = FORGOTTEN;
}
