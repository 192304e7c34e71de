/*
 * lanes - assign the intervals of one track to lanes: two intervals of a lane
 * are disjoint, or one contains the other, so that a viewer can draw them.
 *
 * Intervals arrive sorted by begin, and for equal begins the longest first;
 * one that arrives late (a clock was set back) goes to a lane whose last begin
 * is not after it.  Each goes to the lane whose innermost open interval ends
 * soonest after it, the tightest place in which it nests.  A new lane is
 * opened only when the interval would partly overlap the innermost one of
 * every lane.  If all intervals have a moment in common no method needs fewer
 * lanes (it is the greedy division of their ends into decreasing sequences);
 * in general, the minimum is the colouring of a circle graph, which is
 * NP-hard.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_LANES_H
#define EXPORTERS_TRACE_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LANES_LANES_MAX = 256,
	LANES_DEPTH_MAX = 512, /* viewers drop deeper nesting */
};

/* Initialize it with zeros. */
struct lanes {
	struct lanes_lane {
		int64_t
		    *ends; /* ends of the open intervals, the innermost last */
		uint32_t depth, room;
		int64_t latest_ns; /* begin of the last interval */
	} * at;
	uint32_t count;
};

/* The number of the lane, from 0; false: all lanes are in use. */
bool lanes_place(
    struct lanes *lanes, int64_t begin_ns, int64_t end_ns, uint32_t *lane);
void lanes_clear(struct lanes *lanes);

#endif
