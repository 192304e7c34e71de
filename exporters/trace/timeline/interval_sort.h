/*
 * interval_sort - intervals that are sorted before they are drawn: by begin, of
 * one begin the longest first, as lanes want them.
 *
 * Holds copies, and only so many bytes of them: when a bag is full it gives up
 * the later half of its intervals, and takes none from where they began until
 * it is emptied.  Whoever fills it from a source that can be read again goes
 * on from there.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_INTERVAL_SORT_H
#define EXPORTERS_TRACE_TIMELINE_INTERVAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

struct interval_sort_item {
	uint32_t row;   /* of the timeline */
	uint32_t flags; /* the caller's */
	int64_t begin_ns, end_ns;
	struct text name, category, pairs;
	struct text
	    notes; /* more pairs; interval_sort_get has them in `pairs` */
};

struct interval_sort {
	size_t bytes_max;
	struct interval_sort_entry *entries; /* opaque */
	uint32_t count, room;
	unsigned char *bytes;
	size_t used, bytes_room;
	int64_t limit_ns; /* nothing from then on is taken */
	uint64_t crowded; /* of one begin, for which there was no room */
	uint64_t came;
	uint32_t last_row; /* of what was taken last */
	int64_t last_begin_ns;
};

void interval_sort_init(struct interval_sort *interval_sort, size_t bytes_max);
void interval_sort_clear(struct interval_sort *interval_sort);

void interval_sort_add(
    struct interval_sort *interval_sort, const struct interval_sort_item *item);
void interval_sort_sort(struct interval_sort *interval_sort);
/* A view, valid until the bag changes. */
void interval_sort_get(const struct interval_sort *interval_sort, uint32_t i,
    struct interval_sort_item *item);
/* It has no items and no limit any more. */
void interval_sort_empty(struct interval_sort *interval_sort);
/* Was something given up? */
bool interval_sort_was_full(const struct interval_sort *interval_sort);

#endif
