/*
 * memory - allocation that cannot fail.
 *
 * A process without memory cannot continue, and everything that must survive
 * it is on disk: these functions write one sentence to stderr and abort.  Not
 * for libpoolscope, which must not end its host process.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_MEMORY_H
#define PROTO_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/text.h"

/* Report that `bytes` bytes could not be allocated (0: omit the number), and
 * abort. */
_Noreturn void memory_exhausted(size_t bytes);

/* Return what malloc, calloc, realloc and reallocarray return; release it with
 * free(3).  A request for 0 bytes returns a pointer, never NULL. */
void *memory_alloc(size_t bytes) __attribute__((malloc));
void *memory_zero(size_t count, size_t item_bytes) __attribute__((malloc));
void *memory_resize(void *at, size_t bytes);
void *memory_resize_array(void *at, size_t count, size_t item_bytes);

/* Copies; text gets a NUL. */
void *memory_copy(const void *from, size_t bytes) __attribute__((malloc));
char *memory_string(const char *string) __attribute__((malloc));
char *memory_text(struct text text) __attribute__((malloc));
char *memory_format(const char *format, ...)
    __attribute__((malloc, format(printf, 1, 2)));

/* A stream into memory (open_memstream); memory_stream_end closes it, sets it
 * to NULL, and stores the bytes written in *at and *bytes. */
FILE *memory_stream(char **at, size_t *bytes);
void memory_stream_end(FILE **stream);

/* Check `at`, the result of an allocation in a library. */
static inline void *
memory_must(void *at)
{
	if (at == NULL)
		memory_exhausted(0);
	return at;
}

/* Grow the array `at`, which has room for `*room` items, so that it has an
 * item `number`.  New items are not initialized: unused ones occupy no memory.
 */
static inline void *
memory_grow(void *at, uint32_t *room, uint32_t number, size_t item_bytes)
{
	if (number < *room)
		return at;
	if (number >= (UINT32_MAX - 16) / 2)
		memory_exhausted(0);
	*room = 2 * number + 16;
	return memory_resize_array(at, *room, item_bytes);
}

/* The same; new items are zero. */
void *memory_grow_zero(
    void *at, uint32_t *room, uint32_t number, size_t item_bytes);

/* The same, of an array by its name; MEMORY_ADD is the item behind the last
 * one, which it counts.  What is assigned to it may be evaluated before or
 * after: it must not look at the array or the count. */
#define MEMORY_GROW(at, room, number)                                          \
	((at) = memory_grow((at), &(room), (number), sizeof(*(at))))
#define MEMORY_GROW_ZERO(at, room, number)                                     \
	((at) = memory_grow_zero((at), &(room), (number), sizeof(*(at))))
#define MEMORY_ADD(at, room, count)                                            \
	(MEMORY_GROW(at, room, count), &(at)[(count)++])

#endif
