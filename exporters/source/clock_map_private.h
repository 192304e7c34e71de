/*
 * source_clock_map_private - shared by clock_map.c (adding estimates) and
 * clock_map_at.c (lookup).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_MAP_PRIVATE_H
#define EXPORTERS_SOURCE_CLOCK_MAP_PRIVATE_H

#include "exporters/source/clock_map.h"
#include "proto/hash/string_table.h"

/* The estimates of one generation of one node. */
struct clock_map_generation {
	uint32_t first, count; /* indexes into points */
	int64_t begin_ns, end_ns;
	bool matters;
};

struct clock_map_node {
	struct clock_map_point *points;
	uint32_t count, room;
	struct clock_map_generation *generations;
	uint32_t generation_count;
};

struct clock_map {
	struct string_table names;
	struct clock_map_node *nodes; /* indexed by the number of the name */
	uint32_t room;
	uint64_t points;
	int64_t least_ns,
	    greatest_ns; /* range of the offsets of clocks worth correcting */
};

/* Do both belong to the same generation? */
bool clock_map_same(
    const struct clock_map_point *a, const struct clock_map_point *b);

#endif
