/*
 * reader_series block - the records of one hour, node and track, while a page
 * is made of them: what records.c and series_rollups.c share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_SERIES_BLOCK_H
#define AGGREGATOR_QUERY_SERIES_SERIES_BLOCK_H

#include "aggregator/query/page/page.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/hour_cursor.h"

/* The rows of one hour, node and track, and what they have in common. */
struct series_block {
	struct page *page;
	struct key_row_block key;
	struct text node, track;
	bool again; /* the page began in it: go on behind `mark` */
	struct row_block_item mark;
	enum rollup_step rollup; /* wanted of the hour, for buckets */
};

/* Is any record of it wanted?  If not, `next` is where to go on. */
bool series_block_is_wanted(
    struct series_block *block, struct key_row_block *next);
/* Nothing of it is.  False: the page is full. */
bool series_block_pass(struct series_block *block);
/* The page has all of it up to this record. */
void series_block_set_mark(
    struct series_block *block, const struct row_block_item *item);
/* Did the page before end in it? */
bool series_block_is_mark(const struct series_block *block);

/* Samples as columns (columns.c): those of the merge, or of a compacted run
 * that has all, from `from_ns` on.  False: the page is full. */
bool series_block_give_columns(struct series_block *block,
    struct compacted_cursor *compacted_cursor, int64_t from_ns);

/* The first hour of a table at or behind that of `first`, or INT32_MAX. */
int32_t series_block_next_hour(
    struct db_cursor *cursor, const struct key_row_block *first);

/* ---- buckets (series_rollups.c); false: the page is full ---- */

/* An hour of buckets begins: which rollup is wanted of it?  True when that is
 * all that is needed (series block_select_rollup), be it that the samples are
 * gone or that they are all in the one `run`. */
bool series_block_find_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t *slice);
/* All series blocks of the hour from `first` on, or those of the node `only`.
 */
bool series_block_select_rollup(struct series_block *block,
    const struct key_row_block *first, uint32_t only, uint32_t slice);
/* The series block at hand of the merge_inputs, which are then behind it. */
bool series_block_select_series(
    struct series_block *block, struct hour_cursor *hour_cursor);

#endif
