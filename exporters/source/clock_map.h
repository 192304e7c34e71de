/*
 * clock_map - the clock offsets of nodes over time.
 *
 * Built from samples of metric group `clock` (proto/wire.md), which agents
 * derive from acknowledgements.  Between two estimates of one generation the
 * offset is interpolated linearly and the error covers what both estimates
 * allow; after the last estimate the error grows.  An estimate applies to its
 * own generation only: where two generations are possible, for example after a
 * clock was set back, the error covers both.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_CLOCK_MAP_H
#define EXPORTERS_SOURCE_CLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

enum {
	/* Limit of estimates in memory, for all nodes; beyond it they are
	 * decimated. */
	CLOCK_MAP_POINTS_MAX = 1 << 20,
};

struct clock_map; /* opaque */

/* An estimate as a node published it. */
struct clock_map_point {
	int64_t time_ns; /* on the node's clock */
	int64_t offset_ns, error_ns;
	double drift, drift_error; /* seconds per second */
	int64_t round_trip_ns;
	uint64_t generation;
	int64_t begin_ns; /* of the generation */
	int64_t receive_ns;
};

/* Offset of a node at a time: time + offset_ns is the aggregator's time,
 * within error_ns. */
struct clock_map_offset {
	int64_t offset_ns, error_ns;
	/* The best estimate shows an offset larger than its error: the time is
	 * worth correcting. */
	bool matters;
};

void clock_map_new(struct clock_map **map);
void clock_map_free(struct clock_map **map);

/* Add a record; false when it is not an estimate. */
bool clock_map_add(struct clock_map *map, const struct record *record);
/* Parse an estimate without adding it to a map. */
bool clock_map_get_point(
    const struct record *record, struct clock_map_point *point);

/* Call it after the last estimate and before the first lookup. */
void clock_map_finish(struct clock_map *map);

/* False: no estimate covers that node at that time. */
bool clock_map_at(const struct clock_map *map, struct text node,
    int64_t time_ns, struct clock_map_offset *offset);

/* Widen a window: records whose shown times are in [from, to) may have stored
 * times in [*from, *to). */
void clock_map_widen(
    const struct clock_map *map, int64_t *from_ns, int64_t *to_ns);

/* The range of all offsets; it always includes 0. */
void clock_map_range(
    const struct clock_map *map, int64_t *least_ns, int64_t *greatest_ns);

/* Is any clock worth correcting?  If so, *error_ns is the largest error of the
 * estimates of such clocks. */
bool clock_map_matters(const struct clock_map *map, int64_t *error_ns);

bool clock_map_is_empty(const struct clock_map *map);

/* Clocks that were set at a shown time in [from, to): of how many nodes, and
 * the one that was set by most. */
struct clock_map_sets {
	uint32_t nodes;
	struct text node;
	int64_t by_ns;
};
struct clock_map_sets clock_map_find_sets(
    const struct clock_map *map, int64_t from_ns, int64_t to_ns);

#endif
