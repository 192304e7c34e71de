/*
 * arena - memory with the lifetime of one transaction.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_ARENA_H
#define PROTO_BASE_ARENA_H

#include <stddef.h>

#include "proto/base/text.h"

struct arena_block;

struct arena {
	struct arena_block *first, *now;
	size_t used; /* bytes allocated since the last reset */
};

/* For data whose length is known only after it was written: reserve `bytes`,
 * write, then allocate what was needed with arena_keep.  Ends the process when
 * memory is exhausted. */
void *arena_room(struct arena *arena, size_t bytes);
void arena_keep(struct arena *arena, size_t bytes);

/* Returns a copy, aligned to 8 bytes. */
void *arena_copy(struct arena *arena, const void *from, size_t bytes);
struct text arena_text(struct arena *arena, struct text text);

/* Release everything that was allocated.  Keeps up to 10 MiB for reuse and
 * frees the rest; arena_clear frees all of it. */
void arena_reset(struct arena *arena);
void arena_clear(struct arena *arena);

#endif
