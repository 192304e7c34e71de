/*
 * series_block - the records of one hour, node and track, while they are
 * appended to a page; shared by records.c and the files of this folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_SERIES_BLOCK_H
#define AGGREGATOR_QUERY_SERIES_SERIES_BLOCK_H

#include "aggregator/query/page/page.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/hour_cursor.h"

/* The rows of one hour, node and track, and what they share. */
struct series_block {
	struct page *page;
	struct key_row_block key;
	struct text node, track;
	uint32_t only; /* the only selected node; 0: there may be several */
	bool resumed;  /* the page began in it: continue after `after` */
	struct row_block_item after;
	/* The rollup to use for this hour, for buckets. */
	enum rollup_step rollup;
};

/* Does the query select any record of it?  If not, continue at `next`. */
bool series_block_is_wanted(
    struct series_block *block, struct key_row_block *next);
/* Skip the series block.  False: the page is full. */
bool series_block_skip(struct series_block *block);
/* Set the cursor: the page contains everything up to this record. */
void series_block_set_cursor(
    struct series_block *block, const struct row_block_item *item);
/* Did the previous page end in it? */
bool series_block_is_cursor(const struct series_block *block);

/* Append samples as columns (series_columns.c), from `from_ns` on: those of
 * the merge, or of a compacted slice that has all of them.  False: the page is
 * full. */
bool series_block_append_columns(struct series_block *block,
    struct compacted_cursor *compacted_cursor, int64_t from_ns);

/* The first hour of a table at or after that of `first`; INT32_MAX: none. */
int32_t series_block_next_hour(
    struct db_cursor *cursor, const struct key_row_block *first);

/* ---- buckets (series_rollups.c); false: the page is full ---- */

/* The rollup that the answer is made of in this hour, if it has all samples;
 * ROLLUP_RAW: it is made of the samples. */
enum rollup_step series_block_wanted_rollup(
    const struct page *page, int32_t hour);
/* Choose the rollup to use for an hour.  True when rollups suffice
 * (series_block_select_rollup): the samples were deleted, or they are all in
 * the slice `slice`, or the reader has no store. */
bool series_block_find_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t *slice);
/* Append all series blocks of the hour from `first` on. */
bool series_block_select_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t slice);
/* Append the current series block of the slices, and move past it. */
bool series_block_select_series(
    struct series_block *block, struct hour_cursor *hour_cursor);

#endif
