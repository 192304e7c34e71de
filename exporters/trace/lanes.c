/*
 * lanes - assign the intervals of one track to lanes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* Close intervals that have ended; return the end of the innermost open one. */
static int64_t
close_ended(struct lanes_lane *lane, int64_t now_ns)
{
	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= now_ns)
		lane->depth--;
	return lane->depth > 0 ? lane->ends[lane->depth - 1] : INT64_MAX;
}

static void
open_in(struct lanes_lane *lane, int64_t end_ns)
{
	lane->ends = memory_grow(
	    lane->ends, &lane->room, lane->depth, sizeof(*lane->ends));
	lane->ends[lane->depth++] = end_ns;
}

static struct lanes_lane *
add_lane(struct lanes *lanes)
{
	/* The capacity doubles at each power of two. */
	if ((lanes->count & (lanes->count - 1)) == 0) {
		uint32_t room = lanes->count > 0 ? 2 * lanes->count : 1;

		lanes->at =
		    memory_resize_array(lanes->at, room, sizeof(*lanes->at));
	}
	lanes->at[lanes->count] = (struct lanes_lane){ .latest_ns = INT64_MIN };
	return &lanes->at[lanes->count++];
}

bool
lanes_place(
    struct lanes *lanes, int64_t begin_ns, int64_t end_ns, uint32_t *lane)
{
	struct lanes_lane *best = NULL;
	int64_t best_end = 0;

	assert(begin_ns <= end_ns);
	for (uint32_t i = 0; i < lanes->count; i++) {
		struct lanes_lane *one = &lanes->at[i];
		int64_t end;

		if (one->latest_ns > begin_ns)
			continue;
		end = close_ended(one, begin_ns);
		if (end < end_ns || one->depth == LANES_DEPTH_MAX ||
		    (best != NULL && end >= best_end))
			continue;
		best = one;
		best_end = end;
	}
	if (best == NULL) {
		if (lanes->count == LANES_LANES_MAX)
			return false;
		best = add_lane(lanes);
	}
	open_in(best, end_ns);
	best->latest_ns = begin_ns;
	*lane = (uint32_t)(best - lanes->at);
	return true;
}

void
lanes_clear(struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		free(lanes->at[i].ends);
	free(lanes->at);
	memset(lanes, 0, sizeof(*lanes));
}
