/*
 * phases_plot - where the time of the nodes of a cascade went: a bar for each
 * node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/cascade_plot.h"
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

/* The bands from the bottom up, in the order in which they usually happen. */
static const struct {
	enum phases_part part;
	enum cascade_phase phase; /* whose name it has */
} parts[PHASES_PARTS] = {
	{ PHASES_PREPARATION, CASCADE_NODEPREP },
	{ PHASES_HELPER, CASCADE_SHIPYARD },
	{ PHASES_REGISTRY, CASCADE_REGISTRY },
	{ PHASES_WAIT, CASCADE_PHASES },
	{ PHASES_PULL, CASCADE_PULL },
	{ PHASES_TORRENT, CASCADE_TORRENT },
	{ PHASES_LOAD, CASCADE_LOAD },
	{ PHASES_SAVE, CASCADE_SAVE },
	{ PHASES_OTHER, CASCADE_GLOBAL },
};

/* As in every picture of the model. */
static struct band
band_of(int part)
{
	struct band band = { .title = text_of("no phase"),
		.column = text_of("no_phase"),
		.place = PALETTE_NONE };

	if (parts[part].phase == CASCADE_PHASES)
		return band;
	band.title = band.column =
	    text_of(cascade_names[parts[part].phase].name);
	palette_place(&band.title, 1, &band.place);
	return band;
}

static struct bands_row
row_of(const struct cascade *cascade, const struct cascade_node *node)
{
	struct phases_times times = phases_times_of(cascade, node);
	struct bands_row row = { .node = node->name, .total_s = times.total };
	int64_t us = 0;

	cascade_start_us(node, &us);
	row.start_s = (double)(us - cascade->first_us) / 1e6;
	for (int i = 0; i < PHASES_PARTS; i++)
		row.seconds[i] = times.seconds[parts[i].part];
	return row;
}

/* Only the bands in which at least one node spent time. */
static void
set_bands(struct bands *bands)
{
	bool has[PHASES_PARTS] = { false };
	uint32_t to = 0;

	_Static_assert(
	    (int)PHASES_PARTS <= (int)BANDS_MAX, "enlarge BANDS_MAX");
	for (uint32_t i = 0; i < bands->count; i++)
		for (int part = 0; part < PHASES_PARTS; part++)
			has[part] |= bands->rows[i].seconds[part] > 0;
	for (int part = 0; part < PHASES_PARTS; part++) {
		/* If a clock jumped, gr-done can precede nodeprep:start and no
		 * band has a length: draw an empty picture. */
		if (!has[part] && (to > 0 || part + 1 < PHASES_PARTS))
			continue;
		bands->band[to] = band_of(part);
		for (uint32_t i = 0; i < bands->count; i++)
			bands->rows[i].seconds[to] =
			    bands->rows[i].seconds[part];
		to++;
	}
	bands->band_count = to;
}

struct phases_plot *
phases_plot_new(const struct cascade *cascade, struct text pool)
{
	struct phases_plot *plot = memory_zero(1, sizeof(*plot));
	struct bands *bands = &plot->bands;
	size_t used;

	strcpy(plot->title, "Startup of pool ");
	used = strlen(plot->title);
	cascade_put_title(
	    cascade, pool, plot->title + used, sizeof(plot->title) - used);
	if (cascade->clock[0] != '\0')
		snprintf(plot->note, sizeof(plot->note), " Of the %s.",
		    cascade->clock);
	*bands = (struct bands){
		.title = plot->title,
		.note = plot->note,
		.subject = "Startup time",
		.zero = "the node's preparation began",
		.total = "the time from the start of preparation to all global "
			 "resources",
	};
	bands->rows = memory_zero(cascade->complete + 1, sizeof(*bands->rows));
	for (uint32_t i = 0; i < cascade->node_count; i++)
		if (cascade->nodes[i].missing == 0)
			bands->rows[bands->count++] =
			    row_of(cascade, &cascade->nodes[i]);
	set_bands(bands);
	bands_sort(bands);
	return plot;
}

void
phases_plot_free(struct phases_plot **plot)
{
	if (*plot == NULL)
		return;
	free((*plot)->bands.rows);
	free(*plot);
	*plot = NULL;
}
