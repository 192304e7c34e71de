/*
 * coverage - which numbers of a stream are accounted for, as intervals.
 * SPDX-License-Identifier: MIT
 */
#include "agents/spool/view/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/search.h"

/* The first interval that ends at or after `number`, or the count. */
static uint32_t
find(const struct coverage *coverage, uint64_t number)
{
	return LOWER_BOUND(
	    i, 0, coverage->count, coverage->at[i].last < number);
}

bool
coverage_add(struct coverage *coverage, uint64_t first, uint64_t last)
{
	/* Adjacent intervals are merged, too. */
	uint32_t from = find(coverage, first > 0 ? first - 1 : 0), to = from;
	struct coverage_interval *at;

	while (to < coverage->count &&
	       (last == UINT64_MAX || coverage->at[to].first <= last + 1))
		to++;
	if (from == to) {
		if (coverage->count == COVERAGE_INTERVALS_MAX)
			return false;
		MEMORY_GROW(coverage->at, coverage->room, coverage->count);
		at = coverage->at + from;
		memmove(at + 1, at, (coverage->count - from) * sizeof(*at));
		*at = (struct coverage_interval){ first, last };
		coverage->count++;
		return true;
	}
	at = coverage->at + from;
	if (first < at->first)
		at->first = first;
	if (last < coverage->at[to - 1].last)
		last = coverage->at[to - 1].last;
	if (at->last < last)
		at->last = last;
	memmove(
	    at + 1, coverage->at + to, (coverage->count - to) * sizeof(*at));
	coverage->count -= to - from - 1;
	return true;
}

bool
coverage_next_hole(const struct coverage *coverage, uint64_t from, uint64_t to,
    struct coverage_interval *hole)
{
	uint32_t i = find(coverage, from);

	if (i < coverage->count && coverage->at[i].first <= from) {
		if (coverage->at[i].last == UINT64_MAX)
			return false;
		from = coverage->at[i++].last + 1;
	}
	if (from > to)
		return false;
	hole->first = from;
	hole->last = to;
	if (i < coverage->count && coverage->at[i].first <= to)
		hole->last = coverage->at[i].first - 1;
	return true;
}

void
coverage_clear(struct coverage *coverage)
{
	free(coverage->at);
	*coverage = (struct coverage){ 0 };
}
