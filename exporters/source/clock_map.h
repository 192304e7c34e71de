/*
 * clock_map - how far the clocks of nodes were off, and when.
 *
 * Made from samples of set `clock` (proto/README.md), which agents take of
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
	CLOCKMAP_POINTS_MAX = 1 << 20,
};

struct clockmap; /* opaque */

/* An estimate, as a node published it. */
struct clockmap_point {
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
struct clockmap_offset {
	int64_t offset_ns, error_ns;
	/* The clock was off by more than the error when this was estimated at
	 * its best: what is worth to be corrected. */
	bool matters;
};

void clockmap_new(struct clockmap **map);
void clockmap_free(struct clockmap **map);

/* Take in a record; false when it is no estimate. */
bool clockmap_add(struct clockmap *map, const struct record *record);
/* The same without a map. */
bool clockmap_get_point(
    const struct record *record, struct clockmap_point *point);

/* After the last one; nothing is asked before. */
void clockmap_finish(struct clockmap *map);

/* False: nothing is known of that node at that time. */
bool clockmap_at(const struct clockmap *map, struct text node, int64_t time_ns,
    struct clockmap_offset *offset);

/* Where shown times are in [from, to) their own may be in [*from, *to). */
void clockmap_widen(
    const struct clockmap *map, int64_t *from_ns, int64_t *to_ns);

/* Between what all offsets are, and 0. */
void clockmap_range(
    const struct clockmap *map, int64_t *least_ns, int64_t *greatest_ns);

/* Is there a clock that is worth to be corrected?  Then the greatest error of
 * an estimate of such ones. */
bool clockmap_matters(const struct clockmap *map, int64_t *error_ns);

bool clockmap_is_empty(const struct clockmap *map);

#endif
