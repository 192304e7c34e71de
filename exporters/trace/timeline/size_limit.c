/*
 * size_limit - choose the part of a timeline that fits a size.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/size_limit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

void
size_limit_init(
    struct size_limit *limit, int64_t from_ns, int64_t to_ns, uint32_t ranks)
{
	assert(from_ns < to_ns);
	memset(limit, 0, sizeof(*limit));
	limit->from_ns = from_ns;
	limit->to_ns = to_ns;
	limit->ranks = ranks;
	limit->rank_bytes =
	    memory_zero((size_t)ranks + 1, sizeof(*limit->rank_bytes));
}

void
size_limit_clear(struct size_limit *limit)
{
	free(limit->rank_bytes);
	limit->rank_bytes = NULL;
}

static int64_t
section_ns(const struct size_limit *limit)
{
	return (limit->to_ns - limit->from_ns - 1) / SIZE_LIMIT_SECTIONS + 1;
}

void
size_limit_add(
    struct size_limit *limit, int64_t time_ns, uint32_t rank, uint64_t bytes)
{
	int64_t section = (time_ns - limit->from_ns) / section_ns(limit);

	if (section < 0)
		section = 0;
	if (section >= SIZE_LIMIT_SECTIONS)
		section = SIZE_LIMIT_SECTIONS - 1;
	limit->bytes[section] += bytes;
	if (rank < limit->ranks)
		limit->rank_bytes[rank] += bytes;
}

/* Bytes of every trace, whatever is in it. */
static uint64_t
fixed_bytes(const struct size_limit *limit, uint64_t total)
{
	for (int i = 0; i < SIZE_LIMIT_SECTIONS; i++)
		total -= limit->bytes[i];
	return total;
}

uint32_t
size_limit_ranks(const struct size_limit *limit, uint64_t total, uint64_t max)
{
	uint64_t bytes = fixed_bytes(limit, total);
	uint32_t rank = 0;

	while (rank < limit->ranks && bytes + limit->rank_bytes[rank] <= max)
		bytes += limit->rank_bytes[rank++];
	return rank;
}

int64_t
size_limit_time(const struct size_limit *limit, uint64_t total, uint64_t max)
{
	uint64_t bytes = fixed_bytes(limit, total);
	int64_t end_ns = limit->from_ns;
	int i = 0;

	while (i < SIZE_LIMIT_SECTIONS && bytes + limit->bytes[i] <= max)
		bytes += limit->bytes[i++];
	end_ns += (i > 0 ? i : 1) * section_ns(limit);
	if (end_ns >= limit->to_ns)
		end_ns = limit->to_ns - 1;
	return end_ns > limit->from_ns ? end_ns : limit->from_ns + 1;
}
