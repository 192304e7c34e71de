/*
 * source_clock_map_private - what clock_map.c (taking in) and clock_map_at.c
 * (asking) share. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_MAP_PRIVATE_H
#define EXPORTERS_SOURCE_CLOCK_MAP_PRIVATE_H

#include "exporters/source/clock_map.h"
#include "proto/base/string_table.h"

/* The estimates of one generation of one node. */
struct clockmap_generation {
	uint32_t first, count; /* in points */
	int64_t begin_ns, end_ns;
	bool matters;
};

struct clockmap_node {
	struct clockmap_point *points;
	uint32_t count, room;
	struct clockmap_generation *generations;
	uint32_t generation_count;
};

struct clockmap {
	struct intern names;
	struct clockmap_node *nodes; /* by number of the name */
	uint32_t room;
	uint64_t points;
	int64_t least_ns, greatest_ns; /* offset, of all that matter */
};

/* Are both of one generation? */
bool clockmap_same(
    const struct clockmap_point *a, const struct clockmap_point *b);

#endif
