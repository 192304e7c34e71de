/*
 * string_table - assign numbers to names.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/string_table.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { BLOCK_BYTES = 16 << 10, SLOTS_FIRST = 64 };

struct string_table_block {
	struct string_table_block *next;
	size_t used, room;
	char at[];
};

void
string_table_init(struct string_table *string_table)
{
	memset(string_table, 0, sizeof(*string_table));
	string_table->key = hash_key_random();
}

void
string_table_clear(struct string_table *string_table)
{
	struct string_table_block *block = string_table->blocks;

	while (block != NULL) {
		struct string_table_block *next = block->next;

		free(block);
		block = next;
	}
	free(string_table->names);
	free(string_table->slots);
	memset(string_table, 0, sizeof(*string_table));
}

struct text
string_table_keep(struct string_table *string_table, struct text t)
{
	struct string_table_block *block = string_table->blocks;
	char *to;

	if (t.bytes == 0)
		return (struct text){ "", 0 };
	if (block == NULL || block->room - block->used < t.bytes) {
		size_t room = t.bytes > BLOCK_BYTES ? t.bytes : BLOCK_BYTES;

		block = memory_resize_array(NULL, 1, sizeof(*block) + room);
		block->room = room;
		block->used = 0;
		block->next = string_table->blocks;
		string_table->blocks = block;
	}
	to = block->at + block->used;
	memcpy(to, t.at, t.bytes);
	block->used += t.bytes;
	return (struct text){ to, t.bytes };
}

static uint32_t *
find_slot(const struct string_table *string_table, struct text name)
{
	uint32_t mask = string_table->slot_count - 1;
	uint32_t i =
	    (uint32_t)hash_bytes(string_table->key, name.at, name.bytes);

	for (i &= mask;; i = (i + 1) & mask) {
		uint32_t *slot = &string_table->slots[i];

		if (*slot == 0 ||
		    text_equal(string_table->names[*slot - 1], name))
			return slot;
	}
}

/* Double the slots; they hold half as many names. */
static void
grow(struct string_table *string_table)
{
	uint32_t more = string_table->slot_count ? 2 * string_table->slot_count
						 : SLOTS_FIRST;

	string_table->names = memory_resize_array(
	    string_table->names, more / 2, sizeof(struct text));
	string_table->slots =
	    memory_resize_array(string_table->slots, more, sizeof(uint32_t));
	memset(string_table->slots, 0, more * sizeof(uint32_t));
	string_table->slot_count = more;
	for (uint32_t i = 0; i < string_table->count; i++)
		*find_slot(string_table, string_table->names[i]) = i + 1;
}

uint32_t
string_table_add(struct string_table *string_table, struct text name)
{
	uint32_t *slot;

	if (string_table->count == string_table->slot_count / 2)
		grow(string_table);
	slot = find_slot(string_table, name);
	if (*slot == 0) {
		string_table->names[string_table->count] =
		    string_table_keep(string_table, name);
		*slot = ++string_table->count;
	}
	return *slot - 1;
}

bool
string_table_find(
    const struct string_table *string_table, struct text name, uint32_t *number)
{
	uint32_t *slot;

	if (string_table->count == 0)
		return false;
	slot = find_slot(string_table, name);
	*number = *slot - 1;
	return *slot != 0;
}
