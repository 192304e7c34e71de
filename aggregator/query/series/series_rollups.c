/*
 * series_rollups - buckets of samples: choose the rollup to read, or the
 * samples.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series_block.h"

#include "aggregator/query/series/series.h"

#include "aggregator/rollup/rollup_list.h"

static bool
append_series(struct series_block *block, enum rollup_step rollup,
    struct compacted_cursor *compacted_cursor)
{
	struct page *page = block->page;
	struct series_input what = { .key = block->key,
		.node = block->node,
		.group = block->track,
		.skip = block->resumed ? page->cursor.number : 0,
		.rollup = rollup,
		.compacted_cursor = compacted_cursor };

	return series_append(page->series, page, &what);
}

/* Has the rollup all that the samples of a node have, or are they `gone`?
 * Otherwise they are read. */
static bool
is_complete(const struct rollup_columns *columns, bool gone)
{
	return !columns->later && (gone || !columns->lacking);
}

/* Does the series block have a rollup? */
static bool
has_rollup(const struct series_block *block)
{
	struct page *page = block->page;
	struct rollup_columns columns;

	return block->rollup != ROLLUP_RAW &&
	       rollup_list_has(series_rollups(page->series), page->txn,
		   block->rollup, &block->key, &columns) &&
	       is_complete(&columns, false);
}

/* Use the rollup of the series block if it was built from all its samples. */
bool
series_block_select_series(
    struct series_block *block, struct hour_cursor *hour_cursor)
{
	struct page *page = block->page;
	struct compacted_cursor *compacted_cursor =
	    hour_cursor_alone(hour_cursor, &block->key);
	struct key_row_block next = block->key;
	enum rollup_step rollup = ROLLUP_RAW;
	bool good;

	if (compacted_cursor == NULL) {
		merge_reset(&page->reader->merge);
		hour_cursor_collect(hour_cursor, &block->key,
		    &page->reader->merge, page->query->from_ns);
		return append_series(block, ROLLUP_RAW, NULL);
	}
	if (has_rollup(block))
		rollup = block->rollup;
	good = append_series(block, rollup, compacted_cursor);
	key_next_series(&next);
	hour_cursor_skip(hour_cursor, &block->key, &next);
	return good;
}

/* ---- hours ---- */

static bool
is_retained(const struct page *page, int32_t hour, unsigned rollup)
{
	return hour >= tables_cut(page->txn, rollup);
}

/* The samples of the hour were deleted: only rollups are left. */
static bool
samples_are_gone(const struct page *page, int32_t hour)
{
	return !is_retained(page, hour, ROLLUP_RAW);
}

/* Does the window begin or end in a bucket of this rollup of the hour, and
 * leave some of its samples out? */
static bool
is_cut(int64_t edge_ns, int32_t hour, enum rollup_step rollup)
{
	int64_t hour_ns = (int64_t)hour * KEY_HOUR_NS;

	return rollup > ROLLUP_RAW && edge_ns > hour_ns &&
	       edge_ns < hour_ns + KEY_HOUR_NS &&
	       edge_ns % rollup_step_ns(rollup) != 0;
}

/* The coarsest retained rollup that makes up the step and the window (it may be
 * the samples); else the finest retained one. */
enum rollup_step
series_block_wanted_rollup(const struct page *page, int32_t hour)
{
	enum rollup_step best = rollup_of_step(page->query->step_ns);
	enum rollup_step rollup;

	while (
	    (!page->begins_first && is_cut(page->query->from_ns, hour, best)) ||
	    (!page->ends_last && is_cut(page->query->to_ns, hour, best)))
		best--;
	rollup = best;

	while (rollup > ROLLUP_RAW && !is_retained(page, hour, rollup))
		rollup--;
	if (is_retained(page, hour, rollup))
		return rollup;
	for (rollup = best; rollup < ROLLUP_1H; rollup++)
		if (is_retained(page, hour, rollup))
			break;
	return rollup;
}

/* The compacted slice that has all samples of the hour; 0: there is none. */
static uint32_t
whole_slice(const struct page *page, const struct key_row_block *hour)
{
	struct db_cursor *row_blocks =
	    db_cursor_open(page->txn, TABLES_ROW_BLOCKS);
	struct db_cursor *chunks = db_cursor_open(page->txn, TABLES_CHUNKS);
	struct key_row_block to = *hour, row_key;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	uint32_t slice = 0;

	to.slice = to.node = to.track = 0;
	if (series_block_next_hour(row_blocks, &to) != to.hour &&
	    series_block_next_hour(chunks, &to) == to.hour &&
	    db_seek(chunks, hour_cursor_key(bytes, &to), &key, &value) &&
	    key_get_row_block(key, &row_key) && row_key.slice < UINT32_MAX) {
		to.slice = row_key.slice + 1;
		if (row_key.slice >> COMPACTED_ROW_LEVEL_BITS ==
			COMPACTED_ROW_LEVEL_WHOLE &&
		    (!db_seek(
			 chunks, hour_cursor_key(bytes, &to), &key, &value) ||
			memcmp(key.at, bytes, KEY_HOUR_BYTES) != 0))
			slice = row_key.slice;
	}
	db_cursor_close(&row_blocks);
	db_cursor_close(&chunks);
	return slice;
}

/* A series block without a rollup, from the slice that has all samples. */
static bool
append_slice(struct series_block *block,
    struct compacted_cursor **compacted_cursor, uint32_t slice)
{
	struct page *page = block->page;
	struct key_row_block row_key = block->key;

	if (*compacted_cursor == NULL) {
		row_key.slice = slice;
		*compacted_cursor = compacted_cursor_open(
		    page->txn, &page->reader->compacted, &row_key);
	}
	compacted_cursor_seek(*compacted_cursor, row_key.node, row_key.track);
	return !(*compacted_cursor)->more ||
	       (*compacted_cursor)->row_key.node != row_key.node ||
	       (*compacted_cursor)->row_key.track != row_key.track ||
	       append_series(block, ROLLUP_RAW, *compacted_cursor);
}

/* The same from all slices, when late records have not been compacted yet. */
static bool
append_slices(struct series_block *block)
{
	struct page *page = block->page;
	struct merge *merge = &page->reader->merge;
	struct hour_cursor hour_cursor = { .at = NULL };
	struct key_row_block row_key;
	bool good = true;

	hour_cursor_open(&hour_cursor, page->txn, &page->reader->compacted,
	    &block->key, &hour_cursor_all);
	if (hour_cursor_series_block(&hour_cursor, &row_key) &&
	    row_key.node == block->key.node &&
	    row_key.track == block->key.track) {
		merge_reset(merge);
		hour_cursor_collect(
		    &hour_cursor, &row_key, merge, page->query->from_ns);
		good = append_series(block, ROLLUP_RAW, NULL);
	}
	hour_cursor_clear(&hour_cursor);
	return good;
}

/* A series block that the rollup has. */
static bool
append_node(struct series_block *block,
    struct compacted_cursor **compacted_cursor, uint32_t slice,
    const struct rollup_columns *columns)
{
	/* Samples that are needed are deleted when the rollup is complete. */
	if (is_complete(
		columns, samples_are_gone(block->page, block->key.hour)))
		return append_series(block, block->rollup, NULL);
	return slice != 0 ? append_slice(block, compacted_cursor, slice)
			  : append_slices(block);
}

/* Append the series blocks of a rollup.  Their samples were deleted, or are
 * all in one `slice` and so in the rollups.  False: the page is full. */
bool
series_block_select_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t slice)
{
	struct page *page = block->page;
	struct rollup_list *list = series_rollups(page->series);
	struct compacted_cursor *compacted_cursor = NULL;
	struct key_row_block at = *first;
	struct rollup_columns columns;
	bool good = true, more = true;

	while (
	    good && more &&
	    rollup_list_next(list, page->txn, block->rollup, &at, &columns)) {
		block->key = at;
		block->resumed = series_block_is_cursor(block);
		if (series_block_is_wanted(block, &at)) {
			good = append_node(
			    block, &compacted_cursor, slice, &columns);
			more = key_next_series(&at);
		} else {
			good = series_block_skip(block);
		}
	}
	compacted_cursor_close(&compacted_cursor);
	return good;
}

bool
series_block_find_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t *slice)
{
	struct page *page = block->page;
	struct key_row_block at = *first;
	struct rollup_columns columns;

	*slice = 0;
	block->rollup = series_block_wanted_rollup(page, first->hour);
	if (block->rollup == ROLLUP_RAW)
		return false;
	/* Rows that are made have all series of the hour, or none. */
	if (page->reader->origin != NULL)
		return rollup_list_next(series_rollups(page->series), page->txn,
		    block->rollup, &at, &columns);
	*slice = whole_slice(page, first);
	return *slice != 0 || samples_are_gone(page, first->hour);
}
