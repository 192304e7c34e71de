/*
 * clock_map - the clock offsets of nodes over time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/clock_map_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { COLUMNS = 7, RUN_BITS = 16, GENERATIONS_MAX = 4096 };

/* A killed agent had watched its clock for about this long after it published
 * its last estimate. */
#define WATCHED_NS (120 * NS_PER_SECOND)

void
clock_map_new(struct clock_map **made)
{
	struct clock_map *map = memory_zero(1, sizeof(*map));

	string_table_init(&map->names);
	*made = map;
}

void
clock_map_free(struct clock_map **gone)
{
	struct clock_map *map = *gone;

	*gone = NULL;
	if (map == NULL)
		return;
	for (uint32_t i = 0; i < map->names.count; i++) {
		free(map->nodes[i].points);
		free(map->nodes[i].generations);
	}
	free(map->nodes);
	string_table_clear(&map->names);
	free(map);
}

/* ---- adding estimates ---- */

static bool
take_whole(struct text *rest, int64_t *to)
{
	struct value value;

	if (!record_next_value(rest, &value) || value.type != VALUE_INT)
		return false;
	*to = value.is.i;
	return true;
}

bool
clock_map_get_point(const struct record *record, struct clock_map_point *point)
{
	struct text rest = record->value_bytes;
	int64_t drift, drift_error, generation;

	*point = (struct clock_map_point){ .time_ns = record->time_ns,
		.receive_ns = record->receive_ns };
	if (record->kind != RECORD_SAMPLE || record->name.bytes > 0 ||
	    !text_equal(record->source, text_of("clock")) ||
	    record->values < COLUMNS || !take_whole(&rest, &point->offset_ns) ||
	    !take_whole(&rest, &point->error_ns) ||
	    !take_whole(&rest, &drift) || !take_whole(&rest, &drift_error) ||
	    !take_whole(&rest, &point->round_trip_ns) ||
	    !take_whole(&rest, &generation) ||
	    !take_whole(&rest, &point->begin_ns))
		return false;
	point->drift = (double)drift * 1e-9;
	point->drift_error = (double)drift_error * 1e-9;
	point->generation = (uint64_t)generation;
	/* A client may write any value into a store. */
	return point->offset_ns > -INT64_MAX / 2 &&
	       point->offset_ns < INT64_MAX / 2 && point->error_ns >= 0 &&
	       point->error_ns < TIME_MAX_NS / 4 && drift_error >= 0 &&
	       fabs(point->drift) < 1 && point->drift_error < 1;
}

static struct clock_map_node *
node_of(struct clock_map *map, struct text name)
{
	uint32_t number = string_table_add(&map->names, name);

	map->nodes = memory_grow_zero(
	    map->nodes, &map->room, number, sizeof(*map->nodes));
	return &map->nodes[number];
}

bool
clock_map_same(const struct clock_map_point *a, const struct clock_map_point *b)
{
	return a->generation == b->generation && a->begin_ns == b->begin_ns;
}

/* Drop every other estimate, but never the first or last of a generation. */
static void
decimate_points(struct clock_map *map)
{
	map->points = 0;
	for (uint32_t i = 0; i < map->names.count; i++) {
		struct clock_map_node *node = &map->nodes[i];
		struct clock_map_point *p = node->points;
		uint32_t kept = 0;
		bool dropped = false;

		for (uint32_t j = 0; j < node->count; j++) {
			dropped = !dropped && j > 0 && j + 1 < node->count &&
				  clock_map_same(&p[j], &p[j - 1]) &&
				  clock_map_same(&p[j], &p[j + 1]);
			if (!dropped)
				p[kept++] = p[j];
		}
		node->count = kept;
		map->points += kept;
	}
}

bool
clock_map_add(struct clock_map *map, const struct record *record)
{
	struct clock_map_point point;
	struct clock_map_node *node;

	if (!clock_map_get_point(record, &point))
		return false;
	if (map->points >= CLOCK_MAP_POINTS_MAX)
		decimate_points(map);
	if (map->points >= CLOCK_MAP_POINTS_MAX)
		return true; /* one for each generation */
	node = node_of(map, record->node);
	node->points = memory_grow(
	    node->points, &node->room, node->count, sizeof(*node->points));
	node->points[node->count++] = point;
	map->points++;
	return true;
}

/* ---- generations ---- */

static int
compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
by_generation(const void *left, const void *right)
{
	const struct clock_map_point *a = left, *b = right;
	int order =
	    (a->generation > b->generation) - (a->generation < b->generation);

	if (order == 0)
		order = compare(a->begin_ns, b->begin_ns);
	if (order == 0)
		order = compare(a->time_ns, b->time_ns);
	return order;
}

static void
add_generation(struct clock_map_node *node, uint32_t first, uint32_t end)
{
	struct clock_map_generation g = { .first = first,
		.count = end - first,
		.begin_ns = node->points[first].begin_ns };

	/* A clock that is set this often cannot be corrected. */
	if (node->generation_count == GENERATIONS_MAX)
		return;
	for (uint32_t i = first; i < end; i++)
		g.matters = g.matters || llabs(node->points[i].offset_ns) >
					     node->points[i].error_ns;
	if (node->generation_count % 16 == 0)
		node->generations = memory_resize_array(
		    node->generations, node->generation_count + 16, sizeof(g));
	node->generations[node->generation_count++] = g;
}

static const struct clock_map_point *
last_of(const struct clock_map_node *node, uint32_t number)
{
	const struct clock_map_generation *g = &node->generations[number];

	return &node->points[g->first + g->count - 1];
}

/* Set the end of each generation: the time of the agent's last report of it if
 * the agent began the next generation itself; no end if no later generation
 * was reported. */
static void
find_ends(struct clock_map_node *node)
{
	int64_t latest_ns = INT64_MIN;

	for (uint32_t i = 0; i < node->generation_count; i++)
		if (last_of(node, i)->receive_ns > latest_ns)
			latest_ns = last_of(node, i)->receive_ns;
	for (uint32_t i = 0; i < node->generation_count; i++) {
		const struct clock_map_point *last = last_of(node, i);
		bool stepped = i + 1 < node->generation_count &&
			       last_of(node, i + 1)->generation >> RUN_BITS ==
				   last->generation >> RUN_BITS;

		if (stepped)
			node->generations[i].end_ns = last->time_ns;
		else if (last->receive_ns < latest_ns)
			node->generations[i].end_ns =
			    last->time_ns + WATCHED_NS;
		else
			node->generations[i].end_ns = INT64_MAX;
	}
}

static void
note_range(struct clock_map *map, const struct clock_map_node *node)
{
	for (uint32_t i = 0; i < node->count; i++) {
		const struct clock_map_point *p = &node->points[i];

		if (p->offset_ns - p->error_ns < map->least_ns)
			map->least_ns = p->offset_ns - p->error_ns;
		if (p->offset_ns + p->error_ns > map->greatest_ns)
			map->greatest_ns = p->offset_ns + p->error_ns;
	}
}

void
clock_map_finish(struct clock_map *map)
{
	for (uint32_t i = 0; i < map->names.count; i++) {
		struct clock_map_node *node = &map->nodes[i];
		uint32_t first = 0;

		qsort(node->points, node->count, sizeof(*node->points),
		    by_generation);
		for (uint32_t j = 1; j <= node->count; j++)
			if (j == node->count ||
			    !clock_map_same(
				&node->points[first], &node->points[j])) {
				add_generation(node, first, j);
				first = j;
			}
		find_ends(node);
		note_range(map, node);
	}
}

bool
clock_map_is_empty(const struct clock_map *map)
{
	return map->points == 0;
}
