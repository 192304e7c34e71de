/*
 * arena - memory with the lifetime of one transaction.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { BLOCK_BYTES = 1 << 20, KEPT_BLOCKS = 10 };

struct arena_block {
	struct arena_block *next;
	size_t bytes, room;
	unsigned char at[];
};

static struct arena_block *
block_new(size_t room)
{
	struct arena_block *block;

	if (room < BLOCK_BYTES)
		room = BLOCK_BYTES;
	block = memory_alloc(sizeof(*block) + room);
	block->next = NULL;
	block->bytes = 0;
	block->room = room;
	return block;
}

void *
arena_room(struct arena *arena, size_t bytes)
{
	struct arena_block *block = arena->now, *fresh;

	if (block != NULL && block->room - block->bytes >= bytes)
		return block->at + block->bytes;
	if (block != NULL && block->next != NULL &&
	    block->next->room >= bytes) {
		arena->now = block->next; /* from before the last reset */
		return arena->now->at;
	}
	fresh = block_new(bytes);
	if (block == NULL) {
		arena->first = fresh;
	} else {
		fresh->next = block->next;
		block->next = fresh;
	}
	arena->now = fresh;
	return fresh->at;
}

void
arena_keep(struct arena *arena, size_t bytes)
{
	/* Keep everything aligned for the next allocation. */
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > arena->now->room - arena->now->bytes)
		bytes = arena->now->room - arena->now->bytes;
	arena->now->bytes += bytes;
	arena->used += bytes;
}

void *
arena_copy(struct arena *arena, const void *from, size_t bytes)
{
	void *to = arena_room(arena, bytes);

	if (bytes > 0)
		memcpy(to, from, bytes);
	arena_keep(arena, bytes);
	return to;
}

struct text
arena_text(struct arena *arena, struct text text)
{
	return (
	    struct text){ arena_copy(arena, text.at, text.bytes), text.bytes };
}

void
arena_reset(struct arena *arena)
{
	struct arena_block **link = &arena->first, *block;
	unsigned kept = 0;

	while ((block = *link) != NULL) {
		block->bytes = 0;
		if (block->room > BLOCK_BYTES || kept == KEPT_BLOCKS) {
			*link = block->next;
			free(block);
			continue;
		}
		kept++;
		link = &block->next;
	}
	arena->now = arena->first;
	arena->used = 0;
}

void
arena_clear(struct arena *arena)
{
	struct arena_block *block;

	while ((block = arena->first) != NULL) {
		arena->first = block->next;
		free(block);
	}
	*arena = (struct arena){ NULL, NULL, 0 };
}
