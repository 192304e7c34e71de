/*
 * waiting - queries that wait until what they ask for is indexed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

void
waiting_clear(struct waiting *waiting)
{
	while (waiting->count > 0) {
		struct waiting_query query = waiting_take(waiting, 0);

		free((char *)(uintptr_t)query.frame.at);
	}
}

/* An impatient reader sends its query again. */
static bool
is_waiting(const struct waiting *waiting, const struct waiting_query *query)
{
	for (uint32_t i = 0; i < waiting->count; i++)
		if (text_equal(waiting->at[i].frame, query->frame) &&
		    waiting->at[i].route.bytes == query->route.bytes &&
		    memcmp(waiting->at[i].route.at, query->route.at,
			query->route.bytes) == 0)
			return true;
	return false;
}

bool
waiting_add(struct waiting *waiting, const struct waiting_query *query)
{
	uint32_t bytes = query->frame.bytes;
	char *frame;

	if (is_waiting(waiting, query))
		return true;
	if (waiting->count == WAITING_MAX || bytes == 0 ||
	    bytes > WAITING_BYTES - waiting->bytes)
		return false;
	frame = memory_alloc(bytes);
	memcpy(frame, query->frame.at, bytes);
	waiting->at[waiting->count] = *query;
	waiting->at[waiting->count++].frame.at = frame;
	waiting->bytes += bytes;
	return true;
}

/* The others keep their order: the oldest is answered first. */
struct waiting_query
waiting_take(struct waiting *waiting, uint32_t index)
{
	struct waiting_query query = waiting->at[index];

	waiting->bytes -= query.frame.bytes;
	waiting->count--;
	memmove(&waiting->at[index], &waiting->at[index + 1],
	    (waiting->count - index) * sizeof(waiting->at[0]));
	return query;
}
