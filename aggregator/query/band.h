/*
 * reader_band - the records of one hour, node and track, while a page is made
 * of them: what records.c and series_tiers.c share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_BAND_H
#define AGGREGATOR_QUERY_BAND_H

#include "aggregator/query/series.h"
#include "aggregator/rows/hour_cursor.h"

/* The rows of one hour, node and track, and what they have in common. */
struct band {
	struct page *page;
	struct key_head key;
	struct text node, track;
	bool again; /* the page began in it: go on behind `mark` */
	struct head_item mark;
	enum tier_step tier; /* wanted of the hour, for buckets */
};

/* Is any record of it wanted?  If not, `next` is where to go on. */
bool band_is_wanted(struct band *band, struct key_head *next);
/* Nothing of it is.  False: the page is full. */
bool band_pass(struct band *band);
/* The page has all of it up to this record. */
void band_set_mark(struct band *band, const struct head_item *item);
/* Did the page before end in it? */
bool band_is_mark(const struct band *band);

/* Samples as columns (columns.c): those of the merge, or of a sealed run
 * that has all, from `from_ns` on.  False: the page is full. */
bool band_give_columns(
    struct band *band, struct sealed_cursor *sealed_cursor, int64_t from_ns);

/* The first hour of a table at or behind that of `first`, or INT32_MAX. */
int32_t band_next_hour(struct db_cursor *cursor, const struct key_head *first);

/* ---- buckets (series_tiers.c); false: the page is full ---- */

/* An hour of buckets begins: which tier is wanted of it?  True when that is
 * all that is needed (band_select_tier), be it that the samples are gone or
 * that they are all in the one `run`. */
bool band_find_tier(
    struct band *band, const struct key_head *first, uint32_t *run);
/* All bands of the hour from `first` on, or those of the node `only`. */
bool band_select_tier(struct band *band, const struct key_head *first,
    uint32_t only, uint32_t run);
/* The band at hand of the lanes, which are then behind it. */
bool band_select_series(struct band *band, struct hour_cursor *hour_cursor);

#endif
