/*
 * dedup_uuid - which uuids were seen lately.
 *
 * Two open-addressed tables: one is filled; when it is full it becomes the old
 * one, and the older is emptied.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/dedup_uuid.h"

#include <stdlib.h>

#include "proto/base/hash.h"

enum { SLOTS = 1 << 17 }; /* a power of two, three quarters of it used */
enum { EMPTY = 0, FORGOTTEN = 1 };

struct ids {
	struct hash_key key;
	uint64_t *young, *old;
	uint32_t used; /* slots of young that are not empty */
};

void
ids_new(struct ids **made)
{
	struct ids *ids = calloc(1, sizeof(*ids));

	if (ids == NULL)
		abort();
	ids->key = hash_key_random();
	ids->young = calloc(SLOTS, sizeof(*ids->young));
	ids->old = calloc(SLOTS, sizeof(*ids->old));
	if (ids->young == NULL || ids->old == NULL)
		abort();
	*made = ids;
}

void
ids_free(struct ids **ids)
{
	if (*ids == NULL)
		return;
	free((*ids)->young);
	free((*ids)->old);
	free(*ids);
	*ids = NULL;
}

uint64_t
ids_fingerprint(const struct ids *ids, struct text uuid)
{
	uint64_t print = hash_bytes(ids->key, uuid.at, uuid.bytes);

	return print > FORGOTTEN ? print : print + 2;
}

/* Where it is, or the empty slot where the search for it ends. */
static uint64_t *
find(uint64_t *table, uint64_t fingerprint)
{
	uint64_t slot = fingerprint & (SLOTS - 1);

	while (table[slot] != EMPTY && table[slot] != fingerprint)
		slot = (slot + 1) & (SLOTS - 1);
	return &table[slot];
}

bool
ids_add(struct ids *ids, uint64_t fingerprint)
{
	uint64_t *slot;

	if (*find(ids->old, fingerprint) != EMPTY ||
	    *find(ids->young, fingerprint) != EMPTY)
		return false;
	if (ids->used == IDS_KEPT) {
		uint64_t *empty = ids->old;

		ids->old = ids->young;
		ids->young = empty;
		memset(empty, 0, SLOTS * sizeof(*empty));
		ids->used = 0;
	}
	slot = find(ids->young, fingerprint);
	*slot = fingerprint;
	ids->used++;
	return true;
}

void
ids_forget(struct ids *ids, uint64_t fingerprint)
{
	uint64_t *slot = find(ids->young, fingerprint);

	if (*slot == EMPTY)
		slot = find(ids->old, fingerprint);
	/* Not emptied: others may lie behind it. */
	if (*slot != EMPTY)
		*slot = FORGOTTEN;
}
