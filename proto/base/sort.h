/*
 * sort - qsort for what often is in order already, and for numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_SORT_H
#define PROTO_BASE_SORT_H

#include <stdint.h>
#include <stdlib.h>

/* Takes a compare an item if nothing is to do. */
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

static inline int
sort_by_double(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static inline int
sort_by_i64(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* Ascending; none of them NaN. */
static inline void
sort_doubles(double *values, size_t count)
{
	if (count > 0)
		qsort(values, count, sizeof(*values), sort_by_double);
}

static inline void
sort_i64(int64_t *values, size_t count)
{
	if (count > 0)
		qsort(values, count, sizeof(*values), sort_by_i64);
}

#endif
