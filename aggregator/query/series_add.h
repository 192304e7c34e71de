/*
 * series_add - samples into buckets: from what the reader merges, from the
 * columns of a compacted run, or from the rows of a rollup.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_ADD_H
#define AGGREGATOR_QUERY_SERIES_ADD_H

#include "aggregator/query/series.h"

/* The columns [first, end) of the set at hand, and the hour's steps. */
struct series_group {
	uint32_t first, end, steps;
	int64_t hour_ns;
};

/* Fill the buckets of the group with all that there is of the series_block. */
void series_add(struct series *series, struct page *page,
    const struct series_part *series_block, const struct series_group *group);

#endif
