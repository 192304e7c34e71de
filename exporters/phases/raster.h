/*
 * phases_raster - the picture of a timeline: bars of nodes, cut into pixels.
 *
 * A pixel is an interval, [from + span * p / pixels, from + span * (p + 1) /
 * pixels) in whole nanoseconds.  It shows the phase that has most time in it,
 * of several with as much the one that began last, then the one that is later
 * in the model; time between phases hides none.
 *
 * A row is a node, or several that follow each other in the order: then the
 * phase in which most of their time of that pixel was spent.  Where rows are of
 * several, nodes that hang have one each, but no more than a quarter of the
 * rows.  By lanes a row is a lane of a node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_RASTER_H
#define EXPORTERS_PHASES_RASTER_H

#include "exporters/phases/timeline.h"

enum {
	RASTER_PIXELS_MAX = 4000,
	RASTER_ROWS_MAX = 2000,
	RASTER_CELLS_MAX = 4 << 20, /* pixels x phases; 32 bytes each */
	RASTER_SHADES = 10,
};

struct raster_row {
	uint32_t first, last; /* numbers of nodes */
	uint32_t nodes;
	uint32_t lane, key; /* key: of the first segment of the lane */
};

struct raster_asked {
	int64_t from_ns, to_ns; /* cut off what the timeline does not reach */
	uint32_t pixels, rows;  /* rows: at most this many, of nodes */
	enum phases_form form;
	enum phases_order order;
};

struct raster {
	const struct phases_timeline *timeline;
	struct raster_asked asked;
	int64_t from_ns, to_ns;
	uint32_t pixels, phases;
	int64_t *edges_ns; /* pixels + 1 */
	struct raster_row *rows;
	uint32_t count, room, nodes, hanging; /* nodes: of these hang */
	uint64_t without_lane; /* segments: there are too many at once */
	bool *is_shown;        /* by the number of the node */
	uint32_t *row_of; /* the same: its row, or first lane; UINT32_MAX */
	/* Cut: of each phase, and then of none, the time of all nodes in each
	 * pixel since they began. */
	int64_t *area_ns;
};

/* Pixels that follow each other and show the same. */
struct raster_run {
	uint32_t row, pixel, pixels;
	uint32_t phase;
	/* Of a row of one node: what is shown.  Of several NULL, and how much
	 * of their time it is, from 1 to RASTER_SHADES. */
	const struct phases_segment *segment;
	unsigned shade;
};

/* Finds the axis and the nodes.  -1: there are none between the times, or too
 * many pixels.  The timeline must outlive it; clear it in any case. */
int raster_begin(struct raster *raster, const struct phases_timeline *timeline,
    const struct raster_asked *asked, struct err *err);
/* Gives the runs, row by row; after it there are rows and the area. */
void raster_make(struct raster *raster,
    void (*on_run)(void *arg, const struct raster_run *run), void *arg);
void raster_clear(struct raster *raster);

#endif
