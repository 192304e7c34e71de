/*
 * string_table - numbers for names.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/string_table.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 << 10, SLOTS_FIRST = 64 };

struct intern_block {
	struct intern_block *next;
	size_t used, room;
	char at[];
};

static void *
grown(void *at, size_t items, size_t item_bytes)
{
	void *more = reallocarray(at, items, item_bytes);

	if (more == NULL)
		abort(); /* out of memory */
	return more;
}

void
intern_init(struct intern *intern)
{
	memset(intern, 0, sizeof(*intern));
	intern->key = hash_key_random();
}

void
intern_clear(struct intern *intern)
{
	struct intern_block *block = intern->blocks;

	while (block != NULL) {
		struct intern_block *next = block->next;

		free(block);
		block = next;
	}
	free(intern->names);
	free(intern->slots);
	memset(intern, 0, sizeof(*intern));
}

struct text
intern_keep(struct intern *intern, struct text t)
{
	struct intern_block *block = intern->blocks;
	char *to;

	if (t.bytes == 0)
		return (struct text){ "", 0 };
	if (block == NULL || block->room - block->used < t.bytes) {
		size_t room = t.bytes > BLOCK_BYTES ? t.bytes : BLOCK_BYTES;

		block = grown(NULL, 1, sizeof(*block) + room);
		block->room = room;
		block->used = 0;
		block->next = intern->blocks;
		intern->blocks = block;
	}
	to = block->at + block->used;
	memcpy(to, t.at, t.bytes);
	block->used += t.bytes;
	return (struct text){ to, t.bytes };
}

static uint32_t *
find_slot(const struct intern *intern, struct text name)
{
	uint32_t mask = intern->slot_count - 1;
	uint32_t i = (uint32_t)hash_bytes(intern->key, name.at, name.bytes);

	for (i &= mask;; i = (i + 1) & mask) {
		uint32_t *slot = &intern->slots[i];

		if (*slot == 0 || text_equal(intern->names[*slot - 1], name))
			return slot;
	}
}

/* Twice the slots, and room for half as many names. */
static void
grow(struct intern *intern)
{
	uint32_t more =
	    intern->slot_count ? 2 * intern->slot_count : SLOTS_FIRST;

	intern->names = grown(intern->names, more / 2, sizeof(struct text));
	intern->slots = grown(intern->slots, more, sizeof(uint32_t));
	memset(intern->slots, 0, more * sizeof(uint32_t));
	intern->slot_count = more;
	for (uint32_t i = 0; i < intern->count; i++)
		*find_slot(intern, intern->names[i]) = i + 1;
}

uint32_t
intern_add(struct intern *intern, struct text name)
{
	uint32_t *slot;

	if (intern->count == intern->slot_count / 2)
		grow(intern);
	slot = find_slot(intern, name);
	if (*slot == 0) {
		intern->names[intern->count] = intern_keep(intern, name);
		*slot = ++intern->count;
	}
	return *slot - 1;
}

bool
intern_find(const struct intern *intern, struct text name, uint32_t *number)
{
	uint32_t *slot;

	if (intern->count == 0)
		return false;
	slot = find_slot(intern, name);
	*number = *slot - 1;
	return *slot != 0;
}
