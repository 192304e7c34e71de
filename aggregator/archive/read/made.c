/*
 * made - a range of rows that were made.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/made.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/search.h"

struct made *
made_new(unsigned table)
{
	struct made *range = memory_zero(1, sizeof(*range));

	range->table = table;
	return range;
}

void
made_free(struct made **range)
{
	if (*range == NULL)
		return;
	arena_clear(&(*range)->bytes);
	free((*range)->at);
	free(*range);
	*range = NULL;
}

void
made_set_range(struct made *range, struct text from, struct text to)
{
	range->from = arena_text(&range->bytes, from);
	range->to = arena_text(&range->bytes, to);
}

void
made_put(struct made *range, struct text key, struct text value)
{
	*MEMORY_ADD(range->at, range->room, range->count) =
	    (struct made_row){ arena_text(&range->bytes, key),
		    arena_text(&range->bytes, value) };
}

static int
compare(const void *a, const void *b)
{
	const struct made_row *x = a, *y = b;

	return text_compare(x->key, y->key);
}

void
made_sort(struct made *range)
{
	uint32_t kept = 0;

	if (range->count > 1)
		qsort(range->at, range->count, sizeof(*range->at), compare);
	for (uint32_t i = 0; i < range->count; i++)
		if (kept == 0 ||
		    compare(&range->at[kept - 1], &range->at[i]) != 0)
			range->at[kept++] = range->at[i];
	range->count = kept;
}

bool
made_has(const struct made *range, unsigned table, struct text key)
{
	return range->table == table && text_compare(key, range->from) >= 0 &&
	       (range->to.bytes == 0 || text_compare(key, range->to) < 0);
}

uint32_t
made_find(const struct made *range, struct text key)
{
	return LOWER_BOUND(
	    i, 0, range->count, text_compare(range->at[i].key, key) < 0);
}
