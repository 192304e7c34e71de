/*
 * stragglers_place_waits - how long nodes waited for places that others had.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/place_waits.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/search.h"

static int
by_node(const void *left, const void *right)
{
	const struct place_wait *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

void
place_waits_find(struct place_waits *places, const struct critical_waits *waits,
    const struct critical_run *run)
{
	for (uint32_t i = 0; i < waits->count; i++) {
		const struct critical_times *times = &run->at[i];

		if (times->cause != CRITICAL_BY_PLACE ||
		    times->asked_ns >= times->could_ns)
			continue;
		*MEMORY_ADD(places->at, places->room, places->count) =
		    (struct place_wait){ .node = waits->at[i].node,
			    .holder = waits->at[times->by].node,
			    .from_ns = times->asked_ns,
			    .to_ns = times->could_ns };
	}
	if (places->count > 0)
		qsort(places->at, places->count, sizeof(*places->at), by_node);
}

void
place_waits_clear(struct place_waits *places)
{
	free(places->at);
	*places = (struct place_waits){ .at = NULL };
}

/* The first of the node, or behind where it would be. */
static uint32_t
first_of(const struct place_waits *places, uint32_t node)
{
	return LOWER_BOUND(i, 0, places->count, places->at[i].node < node);
}

int64_t
place_waits_length(const struct place_waits *places, uint32_t node,
    int64_t begin_ns, int64_t end_ns, uint32_t *holder)
{
	int64_t waited_ns = 0, until_ns = begin_ns, last_ns = INT64_MIN;

	for (uint32_t i = first_of(places, node);
	     i < places->count && places->at[i].node == node; i++) {
		const struct place_wait *wait = &places->at[i];
		int64_t from_ns =
		    wait->from_ns > until_ns ? wait->from_ns : until_ns;
		int64_t to_ns = wait->to_ns < end_ns ? wait->to_ns : end_ns;

		if (from_ns >= to_ns)
			continue;
		waited_ns += to_ns - from_ns;
		until_ns = to_ns;
		if (wait->to_ns > last_ns) {
			last_ns = wait->to_ns;
			*holder = wait->holder;
		}
	}
	return waited_ns;
}
