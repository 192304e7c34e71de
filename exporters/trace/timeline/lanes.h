/*
 * lanes - intervals of one track side by side, so that in each lane any two
 * are apart or one lies in the other: what a viewer can draw.
 *
 * Intervals come by their begin, of one begin the longest first; one that comes
 * late (a clock was set back) goes to a lane that has not got so far.  Each
 * goes to the lane whose innermost open interval ends soonest after it, which
 * is the tightest place that it nests in; a new lane is opened only when it
 * would overlap the innermost one of every lane in part.  Where all intervals
 * have a moment in common no way needs fewer lanes (it is the patience sort of
 * their ends, and each lane a decreasing sequence); in general, finding the
 * fewest is colouring a circle graph, which is NP-hard.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_LANES_H
#define EXPORTERS_TRACE_TIMELINE_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LANES_LANES_MAX = 256,
	LANES_DEPTH_MAX = 512, /* viewers drop what is deeper */
};

/* All zero to begin with. */
struct lanes {
	struct lanes_lane {
		int64_t *ends; /* of what is open, the innermost last */
		uint32_t depth, room;
		int64_t latest_ns; /* begin */
	} * at;
	uint32_t count;
};

/* The number of the lane, from 0; false: no lane is left. */
bool lanes_place(
    struct lanes *lanes, int64_t begin_ns, int64_t end_ns, uint32_t *lane);
void lanes_clear(struct lanes *lanes);

#endif
