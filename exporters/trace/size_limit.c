/*
 * size_limit - choose the part of a timeline that fits a size.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/size_limit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

void
size_limit_init(struct size_limit *limit, int64_t from_ns, int64_t to_ns)
{
	assert(from_ns < to_ns);
	memset(limit, 0, sizeof(*limit));
	limit->from_ns = from_ns;
	limit->to_ns = to_ns;
	string_table_init(&limit->nodes);
}

void
size_limit_clear(struct size_limit *limit)
{
	string_table_clear(&limit->nodes);
	free(limit->node_bytes);
	limit->node_bytes = NULL;
}

static int64_t
section_ns(const struct size_limit *limit)
{
	return (limit->to_ns - limit->from_ns - 1) / SIZE_LIMIT_SECTIONS + 1;
}

void
size_limit_add_name(struct size_limit *limit, struct text node, uint64_t bytes)
{
	uint32_t before = limit->nodes.count;
	uint32_t number = string_table_add(&limit->nodes, node);

	limit->node_bytes = memory_grow(limit->node_bytes, &limit->node_room,
	    number, sizeof(*limit->node_bytes));
	if (number == before)
		limit->node_bytes[number] = 0;
	limit->node_bytes[number] += bytes;
}

void
size_limit_add(
    struct size_limit *limit, int64_t time_ns, struct text node, uint64_t bytes)
{
	int64_t section = time_ns < limit->from_ns
			      ? 0
			      : (time_ns - limit->from_ns) / section_ns(limit);

	if (section >= SIZE_LIMIT_SECTIONS)
		section = SIZE_LIMIT_SECTIONS - 1;
	limit->bytes[section] += bytes;
	size_limit_add_name(limit, node, bytes);
}

void
size_limit_nodes(const struct size_limit *limit,
    const struct string_table *order, uint64_t total, uint64_t max,
    struct string_table *fit)
{
	uint64_t bytes = total;
	uint32_t number;

	for (uint32_t i = 0; i < limit->nodes.count; i++)
		bytes -= limit->node_bytes[i];
	for (uint32_t i = 0; i < order->count; i++) {
		if (!string_table_find(&limit->nodes, order->names[i], &number))
			continue;
		if (bytes + limit->node_bytes[number] > max)
			continue;
		bytes += limit->node_bytes[number];
		(void)string_table_add(fit, order->names[i]);
	}
}

int64_t
size_limit_time(const struct size_limit *limit, uint64_t total, uint64_t max)
{
	uint64_t bytes = total;
	int64_t end_ns = limit->from_ns;
	int i;

	for (i = 0; i < SIZE_LIMIT_SECTIONS; i++)
		bytes -= limit->bytes[i];
	i = 0;
	while (i < SIZE_LIMIT_SECTIONS && bytes + limit->bytes[i] <= max)
		bytes += limit->bytes[i++];
	end_ns += (i > 0 ? i : 1) * section_ns(limit);
	if (end_ns >= limit->to_ns)
		end_ns = limit->to_ns - 1;
	return end_ns > limit->from_ns ? end_ns : limit->from_ns + 1;
}
