/*
 * source_clock_map_at - the clock offset of a node at a time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/clock_map.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/source/clock_map_private.h"
#include "proto/os/clock.h"

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
	uint32_t low = 0, high = g->count;

	/* The first estimate at or after the time. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (points[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
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
