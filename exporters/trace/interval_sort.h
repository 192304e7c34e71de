/*
 * interval_sort - sort intervals before they are drawn: by begin, and for
 * equal begins the longest first, as lanes require.
 *
 * Copies the intervals into a buffer of bounded size.  A full buffer drops the
 * later half of its intervals, and refuses intervals from that begin on until
 * it is emptied.  The caller then reads its source again from there.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_INTERVAL_SORT_H
#define EXPORTERS_TRACE_INTERVAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

struct interval_sort_item {
	uint32_t row;   /* row of the timeline */
	uint32_t flags; /* flags of the caller */
	int64_t begin_ns, end_ns;
	struct text name, category, pairs;
	struct text notes; /* additional pairs; interval_sort_get returns them
			      in `pairs` */
};

struct interval_sort {
	size_t bytes_max;
	struct interval_sort_entry *entries; /* opaque */
	uint32_t count, room;
	unsigned char *bytes;
	size_t used, bytes_room;
	int64_t limit_ns; /* intervals from this begin on are refused */
	uint64_t crowded; /* intervals with equal begin that did not fit */
	uint64_t added;
	uint32_t last_row; /* begin of the last stored interval */
	int64_t last_begin_ns;
};

void interval_sort_init(struct interval_sort *interval_sort, size_t bytes_max);
void interval_sort_clear(struct interval_sort *interval_sort);

void interval_sort_add(
    struct interval_sort *interval_sort, const struct interval_sort_item *item);
void interval_sort_sort(struct interval_sort *interval_sort);
/* A view, valid until the buffer changes. */
void interval_sort_get(const struct interval_sort *interval_sort, uint32_t i,
    struct interval_sort_item *item);
/* Remove all intervals and the limit. */
void interval_sort_empty(struct interval_sort *interval_sort);
/* Were intervals dropped? */
bool interval_sort_was_full(const struct interval_sort *interval_sort);

#endif
