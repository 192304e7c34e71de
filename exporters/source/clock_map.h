/*
 * clock_map - how far the clocks of nodes were off, and when.
 *
 * Made from samples of set `clock` (proto/wire.md), which agents take of
 * what acknowledgements tell them.  Between two estimates of one generation
 * the offset lies on the line between them, and within what both allow; beyond
 * the last one the error grows.  A generation is never gone beyond: where two
 * are possible, as after a clock was set back, the error covers both.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_MAP_H
#define EXPORTERS_SOURCE_CLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

enum {
	/* Of all nodes, in memory; what is more is thinned out. */
	CLOCK_MAP_POINTS_MAX = 1 << 20,
};

struct clock_map; /* opaque */

/* An estimate, as a node published it. */
struct clock_map_point {
	int64_t time_ns; /* the node's clock */
	int64_t offset_ns, error_ns;
	double drift, drift_error; /* seconds a second */
	int64_t round_trip_ns;
	uint64_t generation;
	int64_t begin_ns; /* of the generation */
	int64_t receive_ns;
};

/* What is known of a time of a node: time + offset_ns is the aggregator's,
 * within error_ns. */
struct clock_map_offset {
	int64_t offset_ns, error_ns;
	/* The clock was off by more than the error when this was estimated at
	 * its best: what is worth to be corrected. */
	bool matters;
};

void clock_map_new(struct clock_map **map);
void clock_map_free(struct clock_map **map);

/* Take in a record; false when it is no estimate. */
bool clock_map_add(struct clock_map *map, const struct record *record);
/* The same without a map. */
bool clock_map_get_point(
    const struct record *record, struct clock_map_point *point);

/* After the last one; nothing is asked before. */
void clock_map_finish(struct clock_map *map);

/* False: nothing is known of that node at that time. */
bool clock_map_at(const struct clock_map *map, struct text node,
    int64_t time_ns, struct clock_map_offset *offset);

/* Where shown times are in [from, to) their own may be in [*from, *to). */
void clock_map_widen(
    const struct clock_map *map, int64_t *from_ns, int64_t *to_ns);

/* Between what all offsets are, and 0. */
void clock_map_range(
    const struct clock_map *map, int64_t *least_ns, int64_t *greatest_ns);

/* Is there a clock that is worth to be corrected?  Then the greatest error of
 * an estimate of such ones. */
bool clock_map_matters(const struct clock_map *map, int64_t *error_ns);

bool clock_map_is_empty(const struct clock_map *map);

#endif
