/*
 * arena - memory for what lives as long as one transaction.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_ARENA_H
#define PROTO_BASE_ARENA_H

#include <stddef.h>

#include "proto/base/text.h"

struct arena_block;

struct arena {
	struct arena_block *first, *now;
	size_t used; /* bytes given out since the last reset */
};

/* Room for `bytes`, of which arena_keep keeps what was needed: the way to
 * write something whose length is known afterwards.  Ends the process when
 * there is no memory. */
void *arena_room(struct arena *arena, size_t bytes);
void arena_keep(struct arena *arena, size_t bytes);

/* A copy, aligned to 8 bytes. */
void *arena_copy(struct arena *arena, const void *from, size_t bytes);
struct text arena_text(struct arena *arena, struct text text);

/* All of it may be used again; memory above a few MiB goes back. */
void arena_reset(struct arena *arena);
void arena_clear(struct arena *arena);

#endif
