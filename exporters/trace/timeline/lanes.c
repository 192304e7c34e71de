/*
 * lanes - intervals of one track side by side.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/lanes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What has ended is closed; the end of what is innermost then. */
static int64_t
close_ended(struct nest_lane *lane, int64_t now_ns)
{
	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= now_ns)
		lane->depth--;
	return lane->depth > 0 ? lane->ends[lane->depth - 1] : INT64_MAX;
}

static void
open_in(struct nest_lane *lane, int64_t end_ns)
{
	if (lane->depth == lane->room) {
		lane->room = 2 * lane->room + 4;
		lane->ends =
		    reallocarray(lane->ends, lane->room, sizeof(*lane->ends));
		if (lane->ends == NULL)
			abort(); /* out of memory */
	}
	lane->ends[lane->depth++] = end_ns;
}

static struct nest_lane *
add_lane(struct nest *nest)
{
	/* Doubled at each power of two. */
	if ((nest->count & (nest->count - 1)) == 0) {
		uint32_t room = nest->count > 0 ? 2 * nest->count : 1;

		nest->at = reallocarray(nest->at, room, sizeof(*nest->at));
		if (nest->at == NULL)
			abort(); /* out of memory */
	}
	nest->at[nest->count] = (struct nest_lane){ .latest_ns = INT64_MIN };
	return &nest->at[nest->count++];
}

bool
nest_place(struct nest *nest, int64_t begin_ns, int64_t end_ns, uint32_t *lane)
{
	struct nest_lane *best = NULL;
	int64_t best_end = 0;

	assert(begin_ns <= end_ns);
	for (uint32_t i = 0; i < nest->count; i++) {
		struct nest_lane *one = &nest->at[i];
		int64_t end;

		if (one->latest_ns > begin_ns)
			continue;
		end = close_ended(one, begin_ns);
		if (end < end_ns || one->depth == NEST_DEPTH_MAX ||
		    (best != NULL && end >= best_end))
			continue;
		best = one;
		best_end = end;
	}
	if (best == NULL) {
		if (nest->count == NEST_LANES_MAX)
			return false;
		best = add_lane(nest);
	}
	open_in(best, end_ns);
	best->latest_ns = begin_ns;
	*lane = (uint32_t)(best - nest->at);
	return true;
}

void
nest_clear(struct nest *nest)
{
	for (uint32_t i = 0; i < nest->count; i++)
		free(nest->at[i].ends);
	free(nest->at);
	memset(nest, 0, sizeof(*nest));
}
