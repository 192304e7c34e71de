/*
 * reader_series - samples as buckets: what a metric was in each step of time.
 *
 * A series block (the samples of one hour, node and set) is read in one go, its
 * columns into a bounded number of buckets; what does not fit them is of the
 * next page.  So memory is bounded by a constant, and where a page ends is
 * said by hour, node, set, column and step alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_SERIES_H
#define AGGREGATOR_QUERY_SERIES_SERIES_H

#include "aggregator/query/page/page.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/compacted_cursor.h"

struct series; /* opaque */

struct series *series_new(void);
void series_free(struct series **series);

/* Does the query want buckets?  Then `widened` is the same over whole steps,
 * its own step the one that will be given. */
bool series_asked(const struct wire_query *query, struct wire_query *widened);

/* A page of buckets begins: nothing is known of the sets. */
void series_begin(struct series *series, struct page *page);

/* Is any metric of the set wanted?  It is then the set at hand. */
bool series_wants(
    struct series *series, struct page *page, uint32_t track, struct text name);

/* Who the records of a series block are. */
struct series_part {
	struct key_row_block key;
	struct text node, set;
	uint64_t skip;           /* buckets that the page before has given */
	enum rollup_step rollup; /* what they are made from */
	struct compacted_cursor *compacted_cursor; /* samples: a run that has
				  all; NULL: the reader's merge has them */
};
/* The buckets of a series block.  False: the page is full, or
 * was ended because the series block has more. */
bool series_give(
    struct series *series, struct page *page, const struct series_part *part);

#endif
