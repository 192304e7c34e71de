/*
 * sort - qsort for what often is in order already: then it takes a compare an
 * item.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_SORT_H
#define PROTO_BASE_SORT_H

#include <stdlib.h>

static inline void
sort_if_needed(void *items, size_t count, size_t bytes,
    int (*compare)(const void *a, const void *b))
{
	char *at = items;

	for (size_t i = 1; i < count; i++, at += bytes)
		if (compare(at, at + bytes) > 0) {
			qsort(items, count, bytes, compare);
			return;
		}
}

#endif
