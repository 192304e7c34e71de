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

/* Reserve `bytes`; arena_keep then allocates the part that was needed.  For
 * data whose length is known only after it was written.  Ends the process when
 * memory is exhausted. */
void *arena_room(struct arena *arena, size_t bytes);
void arena_keep(struct arena *arena, size_t bytes);

/* A copy, aligned to 8 bytes. */
void *arena_copy(struct arena *arena, const void *from, size_t bytes);
struct text arena_text(struct arena *arena, struct text text);

/* Make all of it available again; memory above a few MiB is freed. */
void arena_reset(struct arena *arena);
void arena_clear(struct arena *arena);

#endif
