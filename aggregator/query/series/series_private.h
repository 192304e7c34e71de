/*
 * series_private - what series.c (buckets to records) and series_add.c (samples
 * to buckets) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_SERIES_SERIES_PRIVATE_H
#define AGGREGATOR_QUERY_SERIES_SERIES_PRIVATE_H

#include "aggregator/query/series/series.h"
#include "aggregator/rollup/bucket.h"
#include "aggregator/rollup/rollup_list.h"
#include "aggregator/rollup/metric_columns.h"
#include "proto/wire/buckets.h"

enum {
	SERIES_BUCKETS = 36000, /* at once: an hour of the shortest step */
	SERIES_GROUPS = 64,     /* cached metric group definitions */
};

struct series {
	int64_t step_ns;
	struct series_group_cache {
		uint32_t track; /* 0: empty */
		struct metric_columns columns;
	} groups[SERIES_GROUPS];
	/* of the current series block */
	const struct metric_columns *columns;
	uint32_t most_values;   /* of a sample that was read */
	struct bucket *buckets; /* column by column */
	uint64_t *boot;         /* boot number of each row in a chunk */
	struct rollup_list rollups;
	/* Of the current record. */
	unsigned char values[WIRE_PER_RECORD_MAX * WIRE_BUCKET_BYTES_MAX];
};
/* The metrics [first, end) of the current group, and the steps of the hour. */
struct series_group {
	uint32_t first, end, steps;
	int64_t hour_ns;
};

/* Fill the buckets of the group from all data of the series block. */
void series_add(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group);

#endif
