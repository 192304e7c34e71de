/*
 * span_sort - sort the spans of one track into the order in which they were
 * recorded, by (seq, index); the store returns them sorted by begin.
 *
 * They are nearly sorted, so merging the sorted runs costs little.  What does
 * not fit in memory goes to an unnamed temporary file in sorted pieces, which
 * are merged from there.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SCANNER_SPAN_SORT_H
#define EXPORTERS_SCANNER_SPAN_SORT_H

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
	uint32_t lane; /* of its thread */
};

struct span_sort; /* opaque */

/* Stores at most `items` in memory; SPAN_SORT_ITEMS except in tests. */
struct span_sort *span_sort_new(uint32_t items);
void span_sort_free(struct span_sort **order);

/* Add the spans of one track, in any order.  -1: too many, or the file cannot
 * be written. */
int span_sort_add(
    struct span_sort *order, const struct span_item *item, struct err *err);
/* Call it after the last item. */
int span_sort_end(struct span_sort *order, struct err *err);
/* 1: the next item; 0: the end, the object can sort another track; -1: the
 * file cannot be read. */
int span_sort_next(
    struct span_sort *order, struct span_item *item, struct err *err);

#endif
