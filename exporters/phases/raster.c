/*
 * phases_raster - the picture of a timeline: bars of nodes, cut into pixels.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/raster.h"

#include <stdlib.h>

#include "proto/base/memory.h"

/* A phase in a pixel of the row that is being made. */
struct cell {
	int64_t ns;
	int64_t latest_ns; /* when it began there last; INT64_MIN: it is not */
	int64_t longest_ns;
	uint32_t longest; /* the segment that has most of it */
};

struct making {
	struct raster *raster;
	void (*on_run)(void *arg, const struct raster_run *run);
	void *arg;
	uint32_t rows;  /* of nodes */
	uint32_t alone; /* the first of these, and of the nodes */
	/* The row: nodes [first, end) in the order, of which `begun` have. */
	struct raster_row row;
	uint32_t row_number, begun;
	struct phases_segment *segments;
	uint32_t count, room;
	struct cell *cells; /* by phase, then pixel */
	uint32_t *used;     /* phases of the row */
	uint32_t used_count;
	bool *is_used; /* by phase */
};

/* ---- pixels ---- */

static void
make_edges(struct raster *raster)
{
	int64_t span_ns = raster->to_ns - raster->from_ns;
	int64_t pixels = raster->pixels;

	raster->edges_ns = memory_zero(raster->pixels + 1, sizeof(int64_t));
	for (int64_t p = 0; p <= pixels; p++)
		raster->edges_ns[p] = raster->from_ns + span_ns / pixels * p +
				      span_ns % pixels * p / pixels;
}

/* The last pixel that begins at the moment or before it. */
static uint32_t
pixel_of(const struct raster *raster, int64_t at_ns)
{
	uint32_t low = 0, high = raster->pixels;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (raster->edges_ns[middle] <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int64_t
time_in(const struct raster *raster, uint32_t pixel, int64_t begin_ns,
    int64_t end_ns)
{
	const int64_t *edges_ns = &raster->edges_ns[pixel];

	return (end_ns < edges_ns[1] ? end_ns : edges_ns[1]) -
	       (begin_ns > edges_ns[0] ? begin_ns : edges_ns[0]);
}

/* ---- a row ---- */

static void
clear_cells(struct making *making)
{
	for (uint32_t i = 0; i < making->used_count; i++)
		making->is_used[making->used[i]] = false;
	making->used_count = 0;
}

static struct cell *
cells_of(struct making *making, uint32_t phase)
{
	uint32_t pixels = making->raster->pixels;
	struct cell *cells = &making->cells[(size_t)phase * pixels];

	if (making->is_used[phase])
		return cells;
	making->is_used[phase] = true;
	making->used[making->used_count++] = phase;
	for (uint32_t p = 0; p < pixels; p++)
		cells[p] = (struct cell){ .latest_ns = INT64_MIN };
	return cells;
}

static bool
is_between(const struct raster *raster, int64_t begin_ns, int64_t end_ns)
{
	return begin_ns < raster->to_ns &&
	       (end_ns > raster->from_ns || begin_ns >= raster->from_ns);
}

static void
paint(struct making *making, uint32_t number)
{
	const struct phases_segment *segment = &making->segments[number];
	const struct raster *raster = making->raster;
	int64_t begin_ns = segment->begin_ns, end_ns = segment->end_ns;
	struct cell *cells;
	uint32_t p;

	if (!is_between(raster, begin_ns, end_ns))
		return;
	cells = cells_of(making, segment->phase);
	p = pixel_of(raster, begin_ns);
	do {
		int64_t ns = time_in(raster, p, begin_ns, end_ns);

		cells[p].ns += ns;
		if (begin_ns > cells[p].latest_ns)
			cells[p].latest_ns = begin_ns;
		if (ns >= cells[p].longest_ns) {
			cells[p].longest_ns = ns;
			cells[p].longest = number;
		}
	} while (++p < raster->pixels && raster->edges_ns[p] < end_ns);
}

/* Of those with as much time the one that began later, then the one that is
 * later in the model. */
static bool
is_more(const struct cell *cell, uint32_t phase, const struct cell *than,
    uint32_t than_phase)
{
	if (cell->ns != than->ns)
		return cell->ns > than->ns;
	if (cell->latest_ns != than->latest_ns)
		return cell->latest_ns > than->latest_ns;
	return phase > than_phase;
}

/* The run of one pixel; false: it shows no phase. */
static bool
look(const struct making *making, uint32_t pixel, struct raster_run *run)
{
	const struct raster *raster = making->raster;
	const struct cell *most = NULL;
	int64_t all_ns;

	for (uint32_t i = 0; i < making->used_count; i++) {
		uint32_t phase = making->used[i];
		const struct cell *cell =
		    &making->cells[(size_t)phase * raster->pixels + pixel];

		if (cell->latest_ns == INT64_MIN ||
		    (most != NULL && !is_more(cell, phase, most, run->phase)))
			continue;
		most = cell;
		run->phase = phase;
	}
	run->pixel = pixel;
	run->pixels = 1;
	if (most == NULL)
		return false;
	if (making->row.nodes == 1) {
		run->segment = &making->segments[most->longest];
		return true;
	}
	all_ns = raster->edges_ns[pixel + 1] - raster->edges_ns[pixel];
	run->shade = (unsigned)(0.5 + (double)most->ns * RASTER_SHADES /
					  ((double)all_ns * making->row.nodes));
	if (run->shade == 0)
		run->shade = 1;
	return true;
}

static void
end_row(struct making *making)
{
	struct raster *raster = making->raster;
	struct raster_run run = { .pixels = 0 },
			  next = { .row = raster->count };
	bool is_there = false, goes_on;

	for (uint32_t p = 0; p <= raster->pixels; p++) {
		goes_on = p < raster->pixels && look(making, p, &next);
		if (goes_on && is_there && next.phase == run.phase &&
		    next.segment == run.segment && next.shade == run.shade) {
			run.pixels++;
			continue;
		}
		if (is_there)
			making->on_run(making->arg, &run);
		is_there = goes_on;
		run = next;
	}
	*MEMORY_ADD(raster->rows, raster->room, raster->count) = making->row;
	clear_cells(making);
}

/* ---- the area ---- */

static void
add_area(
    struct raster *raster, uint32_t phase, int64_t begin_ns, int64_t end_ns)
{
	int64_t *area_ns = &raster->area_ns[(size_t)phase * raster->pixels];

	if (begin_ns >= end_ns || !is_between(raster, begin_ns, end_ns))
		return;
	for (uint32_t p = pixel_of(raster, begin_ns);
	     p < raster->pixels && raster->edges_ns[p] < end_ns; p++)
		area_ns[p] += time_in(raster, p, begin_ns, end_ns);
}

/* From its first phase on a node is in one, or in none. */
static void
add_node(struct making *making, uint32_t first)
{
	struct raster *raster = making->raster;
	int64_t end_ns = making->segments[first].begin_ns;

	for (uint32_t i = first; i < making->count; i++) {
		const struct phases_segment *segment = &making->segments[i];

		add_area(raster, raster->phases, end_ns, segment->begin_ns);
		add_area(
		    raster, segment->phase, segment->begin_ns, segment->end_ns);
		end_ns = segment->end_ns;
	}
	add_area(raster, raster->phases, end_ns, raster->to_ns);
}

/* ---- nodes ---- */

static void
end_lanes(struct making *making)
{
	struct raster *raster = making->raster;
	uint32_t lanes = 0;

	for (uint32_t i = 0; i < making->count; i++)
		if (making->segments[i].lane == UINT32_MAX)
			raster->without_lane++;
		else if (making->segments[i].lane >= lanes)
			lanes = making->segments[i].lane + 1;
	for (uint32_t lane = 0; lane < lanes; lane++) {
		bool is_first = true,
		     has_room = raster->count < RASTER_ROWS_MAX;

		for (uint32_t i = 0; i < making->count; i++) {
			if (making->segments[i].lane != lane)
				continue;
			if (is_first)
				making->row.key = making->segments[i].key;
			is_first = false;
			if (has_room)
				paint(making, i);
			raster->without_lane += !has_room;
		}
		making->row.lane = lane;
		if (has_room)
			end_row(making);
	}
}

/* At which node does the row end? */
static uint32_t
row_end(const struct making *making)
{
	uint32_t alone = making->alone, row = making->row_number + 1;

	if (row <= alone)
		return row;
	return alone + (uint32_t)((uint64_t)(row - alone) *
				  (making->raster->nodes - alone) /
				  (making->rows - alone));
}

/* All segments of a node are there: from `first` on. */
static void
end_node(struct making *making, uint32_t first)
{
	uint32_t node = making->segments[first].node;

	if (making->row.nodes == 0)
		making->row.first = node;
	making->row.last = node;
	making->row.nodes++;
	making->raster->row_of[node] = making->raster->count;
	making->begun++;
	if (making->raster->asked.form == PHASES_CUT)
		add_node(making, first);
	if (making->begun < row_end(making))
		return;
	if (making->raster->asked.form == PHASES_LANES) {
		end_lanes(making);
	} else {
		for (uint32_t i = 0; i < making->count; i++)
			paint(making, i);
		end_row(making);
	}
	making->row = (struct raster_row){ .nodes = 0 };
	making->row_number++;
	making->count = 0;
}

struct nodes {
	struct making *making;
	uint32_t first; /* of the segments of the row, that of this node */
};

static void
take(void *arg, const struct phases_segment *segment)
{
	struct nodes *nodes = arg;
	struct making *making = nodes->making;

	if (!making->raster->is_shown[segment->node])
		return;
	if (making->count > nodes->first &&
	    making->segments[nodes->first].node != segment->node) {
		end_node(making, nodes->first);
		nodes->first = making->count;
	}
	*MEMORY_ADD(making->segments, making->room, making->count) = *segment;
}

/* Those that have something between the times. */
static void
choose_nodes(struct raster *raster)
{
	const struct phases_read *phases = &raster->timeline->phases;
	uint32_t nodes = phases->nodes.count;

	raster->is_shown = memory_zero(nodes, sizeof(bool));
	raster->row_of = memory_zero(nodes, sizeof(*raster->row_of));
	for (uint32_t i = 0; i < nodes; i++)
		raster->row_of[i] = UINT32_MAX;
	for (uint32_t i = 0, end; i < phases->count; i = end) {
		const struct phases_item *item = &phases->items[i];
		bool *is_shown = &raster->is_shown[item->node];

		end = phases_share_end(phases, i);
		for (; item < &phases->items[end] && !*is_shown; item++)
			*is_shown =
			    (item->begin_ns < item->end_ns ||
				raster->asked.form == PHASES_LANES) &&
			    is_between(raster, item->begin_ns, item->end_ns);
		raster->nodes += *is_shown;
		raster->hanging +=
		    *is_shown && phases_share_hangs(phases, i, end);
	}
}

int
raster_begin(struct raster *raster, const struct phases_timeline *timeline,
    const struct raster_asked *asked, struct err *err)
{
	*raster = (struct raster){ .timeline = timeline,
		.asked = *asked,
		.from_ns = timeline->first_ns,
		.to_ns = timeline->last_ns,
		.pixels = asked->pixels,
		.phases = timeline->names.phases.count };
	if (raster->from_ns < asked->from_ns)
		raster->from_ns = asked->from_ns;
	if (raster->to_ns > asked->to_ns)
		raster->to_ns = asked->to_ns;
	/* No pixel is shorter than a nanosecond. */
	if (raster->to_ns < raster->from_ns + raster->pixels)
		raster->to_ns = raster->from_ns + raster->pixels;
	if ((uint64_t)raster->phases * raster->pixels > RASTER_CELLS_MAX)
		return err_set(err,
		    "%u pixels are too many for %u phases: ask for %u",
		    raster->pixels, raster->phases,
		    (unsigned)RASTER_CELLS_MAX / raster->phases);
	make_edges(raster);
	choose_nodes(raster);
	return raster->nodes > 0 ? 0 : err_set(err, "no phases in that time");
}

void
raster_make(struct raster *raster,
    void (*on_run)(void *arg, const struct raster_run *run), void *arg)
{
	struct making making = {
		.raster = raster, .on_run = on_run, .arg = arg
	};
	struct nodes nodes = { &making, 0 };
	uint32_t phases = raster->phases;

	making.rows = raster->asked.form == PHASES_LANES ||
			      raster->asked.rows > raster->nodes
			  ? raster->nodes
			  : raster->asked.rows;
	if (making.rows < raster->nodes)
		making.alone = raster->hanging < making.rows / 4
				   ? raster->hanging
				   : making.rows / 4;
	making.cells =
	    memory_zero((size_t)phases * raster->pixels, sizeof(*making.cells));
	making.used = memory_zero(phases, sizeof(*making.used));
	making.is_used = memory_zero(phases, sizeof(*making.is_used));
	raster->area_ns =
	    memory_zero(((size_t)phases + 1) * raster->pixels, sizeof(int64_t));
	phases_timeline_each(raster->timeline, raster->asked.form,
	    raster->asked.order, take, &nodes);
	if (making.count > 0)
		end_node(&making, nodes.first);
	free(making.is_used);
	free(making.used);
	free(making.cells);
	free(making.segments);
}

void
raster_clear(struct raster *raster)
{
	free(raster->is_shown);
	free(raster->row_of);
	free(raster->edges_ns);
	free(raster->rows);
	free(raster->area_ns);
}
