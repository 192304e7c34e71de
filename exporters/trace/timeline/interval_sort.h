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

struct bag_item {
	uint32_t row;   /* of the timeline */
	uint32_t flags; /* the caller's */
	int64_t begin_ns, end_ns;
	struct text name, category, pairs;
	struct text notes; /* more pairs; bag_get has them in `pairs` */
};

struct bag {
	size_t bytes_max;
	struct bag_entry *entries; /* opaque */
	uint32_t count, room;
	unsigned char *bytes;
	size_t used, bytes_room;
	int64_t limit_ns; /* nothing from then on is taken */
	uint64_t crowded; /* of one begin, for which there was no room */
	uint64_t came;
	uint32_t last_row; /* of what was taken last */
	int64_t last_begin_ns;
};

void bag_init(struct bag *bag, size_t bytes_max);
void bag_clear(struct bag *bag);

void bag_add(struct bag *bag, const struct bag_item *item);
void bag_sort(struct bag *bag);
/* A view, valid until the bag changes. */
void bag_get(const struct bag *bag, uint32_t i, struct bag_item *item);
/* It has no items and no limit any more. */
void bag_empty(struct bag *bag);
/* Was something given up? */
bool bag_was_full(const struct bag *bag);

#endif
