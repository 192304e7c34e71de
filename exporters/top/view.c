/*
 * top_view - what one view shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/view.h"

#include <stdlib.h>

#include "proto/base/memory.h"

const struct view *
view_of(enum top_view_number number)
{
	static const struct view *const views[VIEWS] = {
		[VIEW_NODES] = &view_nodes,
		[VIEW_RUNS] = &view_runs,
		[VIEW_POOLS] = &view_pools,
		[VIEW_PIPELINE] = &view_pipeline,
	};

	return views[number];
}

/* ---- layout ---- */

static unsigned
sum_of(const unsigned *widths, uint32_t count)
{
	unsigned used = 0;

	for (uint32_t i = 0; i < count; i++)
		if (widths[i] > 0)
			used += widths[i] + (used > 0);
	return used;
}

/* Give what is left to texts, or to numbers, a column of each in turn. */
static void
grow(const struct view_column *columns, uint32_t count, unsigned width,
    bool numbers, unsigned widths[static VIEW_COLUMNS_MAX])
{
	unsigned left = width - sum_of(widths, count);
	bool grows = true;

	while (grows && left > 0) {
		grows = false;
		for (uint32_t i = 0; i < count && left > 0; i++)
			if (columns[i].right == numbers && widths[i] > 0 &&
			    widths[i] < columns[i].most) {
				widths[i]++;
				left--;
				grows = true;
			}
	}
}

unsigned
view_layout(const struct view_column *columns, uint32_t count, unsigned width,
    unsigned widths[static VIEW_COLUMNS_MAX])
{
	for (uint32_t i = 0; i < count; i++)
		widths[i] = columns[i].least;
	while (sum_of(widths, count) > width) {
		uint32_t last = count;

		for (uint32_t i = 0; i < count; i++)
			if (widths[i] > 0 &&
			    (last == count ||
				columns[i].rank >= columns[last].rank))
				last = i;
		if (last == count)
			break;
		/* The last one that is left is cut instead. */
		if (sum_of(widths, count) == widths[last]) {
			widths[last] = width;
			break;
		}
		widths[last] = 0;
	}
	grow(columns, count, width, false, widths);
	grow(columns, count, width, true, widths);
	return sum_of(widths, count);
}

/* ---- rows ---- */

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
begins(struct text filter, struct text text)
{
	if (text.bytes < filter.bytes)
		return false;
	for (uint32_t i = 0; i < filter.bytes; i++)
		if (lower(text.at[i]) != lower(filter.at[i]))
			return false;
	return true;
}

bool
view_matches(struct text filter, struct text text)
{
	for (uint32_t i = 0; i < filter.bytes; i++)
		if (filter.at[i] == '*' || filter.at[i] == '?')
			return text_match(filter, text);
	for (; text.bytes >= filter.bytes; text.at++, text.bytes--) {
		if (begins(filter, text))
			return true;
		if (text.bytes == 0)
			break;
	}
	return false;
}

struct sorting {
	const struct view *view;
	const struct top_snapshot *snapshot;
};

static struct order_key
key_of(const void *arg, uint32_t row, int column)
{
	const struct sorting *sorting = arg;

	return sorting->view->key(sorting->snapshot, row, column);
}

static void
reverse(uint32_t *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t row = rows[i];

		rows[i] = rows[count - 1 - i];
		rows[count - 1 - i] = row;
	}
}

uint32_t
view_select(const struct view *view, const struct top_snapshot *snapshot,
    struct text filter, int column, bool is_reversed, uint32_t **rows,
    uint32_t *room)
{
	const struct sorting sorting = { view, snapshot };
	uint32_t all = view->count(snapshot), count = 0;

	for (uint32_t i = 0; i < all; i++) {
		if (filter.bytes > 0 &&
		    !view_matches(filter, view->name_of(snapshot, i)) &&
		    (view->other_of == NULL ||
			!view_matches(filter, view->other_of(snapshot, i))))
			continue;
		*MEMORY_ADD(*rows, *room, count) = i;
	}
	if (column >= 0 && view->key != NULL)
		order_numbers(*rows, count, key_of, column, &sorting);
	if (is_reversed)
		reverse(*rows, count);
	return count;
}
