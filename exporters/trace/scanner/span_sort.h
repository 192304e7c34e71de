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
	SPAN_ORDER_ITEMS = 128 << 10, /* in memory */
	SPAN_ORDER_PIECES = 1024,     /* in the file */
};

struct span_item {
	uint64_t seq;
	uint32_t index, name;
	int64_t begin_ns, end_ns;
};

struct span_order; /* opaque */

/* `items` are kept in memory at a time; SPAN_ORDER_ITEMS but in tests. */
struct span_order *span_order_new(uint32_t items);
void span_order_free(struct span_order **order);

/* All of one track, in any order.  -1: too many, or the file cannot be
 * written. */
int span_order_add(
    struct span_order *order, const struct span_item *item, struct err *err);
/* No more come. */
int span_order_end(struct span_order *order, struct err *err);
/* The next one: 1; 0 at the end, and the order is ready for another track;
 * -1 the file cannot be read. */
int span_order_next(
    struct span_order *order, struct span_item *item, struct err *err);

#endif
