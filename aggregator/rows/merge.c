/*
 * merge - row blocks and compacted slices that may overlap in time, read as
 * one.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/merge.h"

#include <stdlib.h>

#include "proto/base/memory.h"

void
merge_reset(struct merge *merge)
{
	merge->count = merge->from = merge->to = 0;
	merge->given = NULL;
}

void
merge_clear(struct merge *merge)
{
	free(merge->at);
	*merge = (struct merge){ .at = NULL };
}

static struct merge_row *
room_for_one(struct merge *merge)
{
	MEMORY_GROW(merge->at, merge->room, merge->count);
	return &merge->at[merge->count];
}

void
merge_add(
    struct merge *merge, struct text value, int64_t first_ns, int64_t from_ns)
{
	struct merge_row *row = room_for_one(merge);

	row->compacted_cursor = NULL;
	row->first_ns = first_ns;
	row->open = false;
	if (row_block_open(&row->rows, value, first_ns) &&
	    row->rows.last_ns >= from_ns) {
		row->last_ns = row->rows.last_ns;
		merge->count++;
	}
}

void
merge_add_compacted(struct merge *merge,
    struct compacted_cursor *compacted_cursor, int64_t from_ns)
{
	struct merge_row *row = room_for_one(merge);

	row->compacted_cursor = compacted_cursor;
	row->open = false;
	if (compacted_cursor_take(compacted_cursor, from_ns, &row->first_ns)) {
		row->last_ns = compacted_cursor_last_ns(compacted_cursor);
		merge->count++;
	}
}

bool
merge_is_sequence(const struct merge *merge)
{
	for (uint32_t i = 1; i < merge->count; i++)
		if (merge->at[i - 1].last_ns >= merge->at[i].first_ns)
			return false;
	return true;
}

static int
compare(const void *left, const void *right)
{
	const struct merge_row *a = left, *b = right;

	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

void
merge_sort(struct merge *merge)
{
	if (merge->count > 1)
		qsort(merge->at, merge->count, sizeof(*merge->at), compare);
}

static void
advance(struct merge_row *row)
{
	row->open =
	    row->compacted_cursor != NULL
		? compacted_cursor_next(row->compacted_cursor, &row->item)
		: row_block_next(&row->rows, &row->item);
}

/* The row block with the earliest next record; NULL when none is left. */
static struct merge_row *
earliest(struct merge *merge)
{
	struct merge_row *best = NULL, *row;
	uint32_t i;

	while (merge->from < merge->to && !merge->at[merge->from].open)
		merge->from++;
	for (i = merge->from; i < merge->to; i++) {
		row = &merge->at[i];
		if (row->open && (best == NULL || row_block_compare(&row->item,
						      &best->item) < 0))
			best = row;
	}
	/* Row blocks are ordered by their first record: an unopened one may be
	 * earlier. */
	for (; merge->to < merge->count; merge->to++) {
		row = &merge->at[merge->to];
		if (best != NULL && row->first_ns > best->item.time_ns)
			break;
		advance(row);
		if (row->open && (best == NULL || row_block_compare(&row->item,
						      &best->item) < 0))
			best = row;
	}
	return best;
}

bool
merge_next(struct merge *merge, struct row_block_item *item)
{
	struct merge_row *row;

	/* Not earlier, because advancing invalidates the body. */
	if (merge->given != NULL)
		advance(merge->given);
	row = merge->given = earliest(merge);
	if (row == NULL)
		return false;
	*item = row->item;
	return true;
}
