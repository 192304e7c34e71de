/*
 * series - samples as buckets: a summary of a metric in each step of time.
 *
 * A series block (the samples of one hour, node and metric group) is read at
 * once, its metrics into a fixed number of buckets.  Metrics that do not fit
 * go to the next page.  Memory is therefore bounded by a constant, and the end
 * of a page is given by hour, node, metric group, metric and step alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_SERIES_H
#define AGGREGATOR_QUERY_SERIES_SERIES_H

#include "aggregator/query/page/page.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/compacted_cursor.h"

struct rollup_list;
struct series; /* opaque */

struct series *series_new(void);
void series_free(struct series **series);

/* Does the query ask for buckets?  If so, `fitted` is the query with the step
 * that the answer has. */
bool series_asked(const struct wire_query *query, struct wire_query *fitted);

/* Begin a page of buckets: forget all definitions of metric groups. */
void series_begin(struct series *series, struct page *page);

/* Does the query select any metric of the group?  It becomes the current
 * group. */
bool series_wants(
    struct series *series, struct page *page, uint32_t track, struct text name);

/* The rows of rollups that the page has read. */
struct rollup_list *series_rollups(struct series *series);

/* A series block to convert to buckets. */
struct series_input {
	struct key_row_block key;
	struct text node, group;
	uint64_t skip;           /* buckets that earlier pages returned */
	enum rollup_step rollup; /* the rollup to read */
	/* ROLLUP_RAW: a slice that has all samples; NULL: they are in the
	 * reader's merge. */
	struct compacted_cursor *compacted_cursor;
};
/* Append the buckets of a series block.  False: the page is full, or it ends
 * because the series block has more metrics. */
bool series_append(
    struct series *series, struct page *page, const struct series_input *part);

#endif
