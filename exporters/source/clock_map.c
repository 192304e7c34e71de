/*
 * clock_map - the clock offsets of nodes over time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/search.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

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

/* Offset of `p` after `passed` ns (negative: before it), relative to the
 * offset of `base`. */
struct range {
	double low, high, middle;
};

static double
passed_since(int64_t before_ns, int64_t time_ns)
{
	int64_t passed_ns;

	/* Years 1900 to 2200. */
	if (__builtin_sub_overflow(time_ns, before_ns, &passed_ns))
		passed_ns = time_ns > before_ns ? INT64_MAX : INT64_MIN;
	return (double)passed_ns;
}

static struct range
range_of(
    const struct clock_map_point *p, int64_t time_ns, int64_t base_offset_ns)
{
	double passed = passed_since(p->time_ns, time_ns);
	double middle =
	    (double)(p->offset_ns - base_offset_ns) + p->drift * passed;
	double error = (double)p->error_ns + p->drift_error * fabs(passed);

	return (struct range){ middle - error, middle + error, middle };
}

/* The intersection of both ranges; their union where they do not overlap. */
static struct range
range_between(const struct clock_map_point *a, const struct clock_map_point *b,
    int64_t time_ns, int64_t base_offset_ns)
{
	struct range before = range_of(a, time_ns, base_offset_ns);
	struct range after = range_of(b, time_ns, base_offset_ns);
	struct range both = { fmax(before.low, after.low),
		fmin(before.high, after.high), 0 };
	double share = passed_since(a->time_ns, time_ns) /
		       fmax(1, passed_since(a->time_ns, b->time_ns));

	if (both.low > both.high) {
		both.low = fmin(before.low, after.low);
		both.high = fmax(before.high, after.high);
	}
	both.middle = (double)(a->offset_ns - base_offset_ns) * (1 - share) +
		      (double)(b->offset_ns - base_offset_ns) * share;
	both.middle = fmin(fmax(both.middle, both.low), both.high);
	return both;
}

static struct range
range_in(const struct clock_map_node *node,
    const struct clock_map_generation *g, int64_t time_ns,
    int64_t base_offset_ns)
{
	const struct clock_map_point *points = &node->points[g->first];
	/* The first estimate at or after the time. */
	uint32_t low = LOWER_BOUND(i, 0, g->count, points[i].time_ns < time_ns);

	if (low == 0)
		return range_of(&points[0], time_ns, base_offset_ns);
	if (low == g->count)
		return range_of(&points[low - 1], time_ns, base_offset_ns);
	return range_between(
	    &points[low - 1], &points[low], time_ns, base_offset_ns);
}

static bool
at(const struct clock_map_node *node, int64_t time_ns,
    struct clock_map_offset *offset)
{
	struct range all = { INFINITY, -INFINITY, 0 };
	int64_t base_ns = 0;
	uint32_t found = 0;

	offset->matters = false;
	for (uint32_t i = 0; i < node->generation_count; i++) {
		const struct clock_map_generation *g = &node->generations[i];
		struct range range;

		if (time_ns < g->begin_ns || time_ns > g->end_ns)
			continue;
		if (found++ == 0)
			base_ns = node->points[g->first].offset_ns;
		range = range_in(node, g, time_ns, base_ns);
		all.low = fmin(all.low, range.low);
		all.high = fmax(all.high, range.high);
		all.middle = range.middle;
		offset->matters = offset->matters || g->matters;
	}
	if (found == 0)
		return false;
	if (found > 1)
		all.middle = (all.low + all.high) / 2;
	if (!(fabs(all.middle) < (double)TIME_MAX_NS))
		return false;
	if (__builtin_add_overflow(
		base_ns, llround(all.middle), &offset->offset_ns))
		return false;
	offset->error_ns = (int64_t)fmin((double)TIME_MAX_NS,
	    ceil(fmax(all.high - all.middle, all.middle - all.low)));
	/* Two generations are possible: the result covers both. */
	if (found > 1)
		offset->matters = llabs(offset->offset_ns) > offset->error_ns;
	return true;
}

bool
clock_map_at(const struct clock_map *map, struct text node, int64_t time_ns,
    struct clock_map_offset *offset)
{
	uint32_t number;

	return string_table_find(&map->names, node, &number) &&
	       at(&map->nodes[number], time_ns, offset);
}

static int64_t
clamp(int64_t time_ns)
{
	if (time_ns < TIME_MIN_NS)
		return TIME_MIN_NS;
	return time_ns > TIME_MAX_NS ? TIME_MAX_NS : time_ns;
}

void
clock_map_widen(const struct clock_map *map, int64_t *from_ns, int64_t *to_ns)
{
	int64_t wide_ns;

	if (map->points == 0)
		return;
	if (*from_ns != TIME_MIN_NS)
		*from_ns = __builtin_sub_overflow(*from_ns,
			       map->greatest_ns + NS_PER_SECOND, &wide_ns)
			       ? TIME_MIN_NS
			       : clamp(wide_ns);
	if (*to_ns != TIME_MAX_NS)
		*to_ns = __builtin_sub_overflow(
			     *to_ns, map->least_ns - NS_PER_SECOND, &wide_ns)
			     ? TIME_MAX_NS
			     : clamp(wide_ns);
}

void
clock_map_range(
    const struct clock_map *map, int64_t *least_ns, int64_t *greatest_ns)
{
	*least_ns = map->least_ns;
	*greatest_ns = map->greatest_ns;
}

bool
clock_map_matters(const struct clock_map *map, int64_t *error_ns)
{
	bool matters = false;

	*error_ns = 0;
	for (uint32_t i = 0; i < map->names.count; i++) {
		const struct clock_map_node *node = &map->nodes[i];

		for (uint32_t j = 0; j < node->generation_count; j++) {
			const struct clock_map_generation *g =
			    &node->generations[j];
			const struct clock_map_point *p =
			    &node->points[g->first];

			matters = matters || g->matters;
			for (uint32_t k = 0; g->matters && k < g->count; k++)
				if (p[k].error_ns > *error_ns)
					*error_ns = p[k].error_ns;
		}
	}
	return matters;
}

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

	MEMORY_GROW_ZERO(map->nodes, map->room, number);
	return &map->nodes[number];
}

/* Do both belong to the same generation? */
static bool
is_same_generation(
    const struct clock_map_point *a, const struct clock_map_point *b)
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
				  is_same_generation(&p[j], &p[j - 1]) &&
				  is_same_generation(&p[j], &p[j + 1]);
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
	*MEMORY_ADD(node->points, node->room, node->count) = point;
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

/* Did the agent itself begin the next generation: was the clock set? */
static bool
is_set_after(const struct clock_map_node *node, uint32_t number)
{
	return number + 1 < node->generation_count &&
	       last_of(node, number + 1)->generation >> RUN_BITS ==
		   last_of(node, number)->generation >> RUN_BITS;
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

		if (is_set_after(node, i))
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
			    !is_same_generation(
				&node->points[first], &node->points[j])) {
				add_generation(node, first, j);
				first = j;
			}
		find_ends(node);
		note_range(map, node);
	}
}

struct clock_map_sets
clock_map_find_sets(const struct clock_map *map, int64_t from_ns, int64_t to_ns)
{
	struct clock_map_sets sets = { .nodes = 0 };

	for (uint32_t i = 0; i < map->names.count; i++) {
		const struct clock_map_node *node = &map->nodes[i];
		bool any = false;

		for (uint32_t j = 0; j < node->generation_count; j++) {
			const struct clock_map_generation *next =
			    &node->generations[j + 1];
			const struct clock_map_point *first;
			int64_t at_ns, by_ns;

			if (!is_set_after(node, j))
				continue;
			first = &node->points[next->first];
			by_ns = llabs(
			    first->offset_ns - last_of(node, j)->offset_ns);
			if (__builtin_add_overflow(
				next->begin_ns, first->offset_ns, &at_ns) ||
			    at_ns < from_ns || at_ns >= to_ns)
				continue;
			any = true;
			if (by_ns >= sets.by_ns) {
				sets.by_ns = by_ns;
				sets.node = map->names.names[i];
			}
		}
		sets.nodes += any;
	}
	return sets;
}

bool
clock_map_is_empty(const struct clock_map *map)
{
	return map->points == 0;
}
