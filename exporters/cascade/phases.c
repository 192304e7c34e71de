/*
 * phases - divide a node's startup time between its phases: a sweep over
 * their begins and ends.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

struct edge {
	int64_t at_ns;
	int8_t band;
	int8_t step; /* +1: a begin, -1: an end */
};

enum { EDGES_MANY = 64 };

static const struct {
	enum cascade_phase phase;
	enum phases_part band;
} once[] = {
	{ CASCADE_NODEPREP, PHASES_PREPARATION },
	{ CASCADE_SHIPYARD, PHASES_HELPER },
	{ CASCADE_REGISTRY, PHASES_REGISTRY },
	{ CASCADE_GLOBAL, PHASES_OTHER },
}, images[] = {
	{ CASCADE_PULL, PHASES_PULL },
	{ CASCADE_LOAD, PHASES_LOAD },
	{ CASCADE_SAVE, PHASES_SAVE },
	{ CASCADE_TORRENT, PHASES_TORRENT },
};

static int
by_time(const void *a, const void *b)
{
	const struct edge *p = a, *q = b;

	return p->at_ns < q->at_ns ? -1 : p->at_ns > q->at_ns;
}

/* Add the part between `from_ns` and `to_ns`. */
static uint32_t
put_edges(struct edge *edges, const struct cascade_pair *pair,
    enum phases_part part, int64_t from_ns, int64_t to_ns)
{
	int64_t begin = pair->begin_ns, end;

	if (!pair->has_begin || !pair->has_end)
		return 0;
	if (__builtin_add_overflow(begin, pair->duration_ns, &end))
		end = INT64_MAX;
	begin = begin < from_ns ? from_ns : begin;
	end = end > to_ns ? to_ns : end;
	if (begin >= end)
		return 0;
	edges[0] = (struct edge){ begin, (int8_t)part, 1 };
	edges[1] = (struct edge){ end, (int8_t)part, -1 };
	return 2;
}

static uint32_t
collect(const struct cascade *cascade, const struct cascade_node *node,
    struct edge *edges, int64_t from_ns, int64_t to_ns)
{
	uint32_t used = 0;

	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++)
		used += put_edges(edges + used, &node->once[once[i].phase],
		    once[i].band, from_ns, to_ns);
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		uint32_t count;
		const struct cascade_pair *p =
		    cascade_run(cascade, node, images[i].phase, &count);

		for (; count > 0; count--, p++)
			used += put_edges(
			    edges + used, p, images[i].band, from_ns, to_ns);
	}
	return used;
}

static void
sweep(struct edge *edges, uint32_t count, int64_t from_ns, int64_t to_ns,
    struct phases_times *times)
{
	int64_t spent_ns[PHASES_PARTS] = { 0 }, at_ns = from_ns;
	uint32_t active[PHASES_PARTS] = { 0 };

	qsort(edges, count, sizeof(*edges), by_time);
	for (uint32_t i = 0; i <= count; i++) {
		int64_t next_ns = i < count ? edges[i].at_ns : to_ns;
		int band = PHASES_PARTS - 1;

		while (band > PHASES_WAIT && active[band] == 0)
			band--;
		spent_ns[band] += next_ns - at_ns;
		at_ns = next_ns;
		if (i < count)
			active[edges[i].band] += (uint32_t)edges[i].step;
	}
	for (int band = 0; band < PHASES_PARTS; band++)
		times->seconds[band] = (double)spent_ns[band] / 1e9;
}

struct phases_times
phases_times_of(const struct cascade *cascade, const struct cascade_node *node)
{
	struct phases_times times = { .total = 0 };
	int64_t from_ns = node->once[CASCADE_NODEPREP].begin_ns;
	int64_t to_ns = node->once[CASCADE_GLOBAL].end_ns;
	struct edge few[EDGES_MANY], *edges = few;
	uint32_t most = sizeof(once) / sizeof(*once);

	if (to_ns <= from_ns)
		return times;
	for (int i = 0; i < CASCADE_PER_IMAGE; i++)
		most += node->run[i].count;
	if (2 * (size_t)most > EDGES_MANY)
		edges = memory_zero(2 * (size_t)most, sizeof(*edges));
	sweep(edges, collect(cascade, node, edges, from_ns, to_ns), from_ns,
	    to_ns, &times);
	if (edges != few)
		free(edges);
	times.total = (double)(to_ns - from_ns) / 1e9;
	return times;
}
