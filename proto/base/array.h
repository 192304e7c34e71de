/*
 * array - arrays that grow as things come.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_ARRAY_H
#define PROTO_BASE_ARRAY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the array `at`, which has `*room` items, with room for the one with
 * this number.  What new items are is not said: those that are never used take
 * no memory. */
static inline void *
array_grow(void *at, uint32_t *room, uint32_t number, size_t item_bytes)
{
	if (number < *room)
		return at;
	*room = 2 * number + 16;
	at = reallocarray(at, *room, item_bytes);
	if (at == NULL)
		abort(); /* out of memory */
	return at;
}

/* The same; new items are zero. */
static inline void *
array_grow_zero(void *at, uint32_t *room, uint32_t number, size_t item_bytes)
{
	uint32_t before = *room;

	at = array_grow(at, room, number, item_bytes);
	if (*room > before)
		memset((char *)at + before * item_bytes, 0,
		    (*room - before) * item_bytes);
	return at;
}

#endif
