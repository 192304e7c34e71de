/*
 * span_sort - spans of one track back in the order in which they were
 * recorded, that of (seq, index); the store gives them by their begin.
 *
 * They nearly are in order, so merging what runs there are costs little.  Of
 * more than fit in memory the sorted pieces go to a temporary file without a
 * name and are merged from there.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SCANNER_SPAN_SORT_H
#define EXPORTERS_TRACE_SCANNER_SPAN_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum {
	SPAN_SORT_ITEMS = 128 << 10, /* in memory */
	SPAN_SORT_PIECES = 1024,     /* in the file */
};

struct span_item {
	uint64_t seq;
	uint32_t index, name;
	int64_t begin_ns, end_ns;
};

struct span_sort; /* opaque */

/* `items` are kept in memory at a time; SPAN_SORT_ITEMS but in tests. */
struct span_sort *span_sort_new(uint32_t items);
void span_sort_free(struct span_sort **order);

/* All of one track, in any order.  -1: too many, or the file cannot be
 * written. */
int span_sort_add(
    struct span_sort *order, const struct span_item *item, struct err *err);
/* No more come. */
int span_sort_end(struct span_sort *order, struct err *err);
/* The next one: 1; 0 at the end, and the order is ready for another track;
 * -1 the file cannot be read. */
int span_sort_next(
    struct span_sort *order, struct span_item *item, struct err *err);

#endif
