/*
 * reader_series - samples as buckets: what a metric was in each step of time.
 *
 * A series_block (the samples of one hour, node and set) is read in one go, its
 * columns into a bounded number of buckets; what does not fit them is of the
 * next page.  So memory is bounded by a constant, and where a page ends is
 * said by hour, node, set, column and step alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_H
#define AGGREGATOR_QUERY_SERIES_H

#include "aggregator/query/page.h"
#include "aggregator/rollup/bucket.h"
#include "aggregator/rollup/rollup.h"
#include "proto/wire/buckets.h"

enum {
	SERIES_BUCKETS = 36000, /* at once: an hour of the smallest step */
	SERIES_SETS = 64,       /* remembered definitions, of this page */
};

/* A metric that is wanted. */
struct series_column {
	uint32_t index; /* in the sample */
	bool counter;
	struct text name;
};

/* What a set's samples are; views into the transaction. */
struct series_set {
	uint32_t track; /* 0: nothing is here */
	uint32_t columns;
	uint32_t boot; /* which column says the boot; UINT32_MAX: none */
	struct series_column *wanted; /* by index */
	uint32_t count, room;
};

struct series {
	int64_t step_ns;
	uint32_t kind; /* number of the name "set" */
	struct series_set sets[SERIES_SETS];
	const struct series_set *set;       /* of the series_block at hand */
	struct bucket *buckets;             /* column after column */
	struct counter_rate_sample *before; /* of each column */
	uint32_t before_room;
	uint64_t *boot;         /* of the rows of a chunk */
	struct value *column;   /* of them */
	struct rollup_row *row; /* at hand */
	/* Of the record at hand. */
	unsigned char values[WIRE_RUN_MAX * WIRE_BUCKET_BYTES_MAX];
};
void series_clear(struct series *series);

/* Does the query want buckets?  Then `widened` is the same over whole steps,
 * its own step the one that will be given. */
bool series_asked(const struct wire_query *query, struct wire_query *widened);

/* A page of buckets begins: nothing is known of the sets. */
void series_begin(struct series *series, struct page *page);

/* Is any metric of the set wanted?  It is then the set at hand. */
bool series_wants(
    struct series *series, struct page *page, uint32_t track, struct text name);

/* Who the records of a series_block are. */
struct series_part {
	struct key_row_block key;
	struct text node, set;
	uint64_t skip;           /* buckets that the page before has given */
	enum rollup_step rollup; /* what they are made from */
	struct compacted_cursor *compacted_cursor; /* samples: a run that has
				  all; NULL: the reader's merge has them */
};
/* The buckets of a series_block.  False: the page is full, or
 * was ended because the series_block has more. */
bool series_give(struct series *series, struct page *page,
    const struct series_part *series_block);

#endif
