/*
 * series_merge - the buckets of series that come in several metric groups, in
 * the order of time.
 *
 * A source answers hour by hour, group by group, node by node.  The records of
 * such series are kept until all groups of the hour have come: some 16 bytes a
 * bucket.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_SERIES_MERGE_H
#define EXPORTERS_SAMPLES_SERIES_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/wire/buckets.h"

enum { SERIES_MERGE_BYTES_MAX = 512 << 20 };

/* Records of an hour. */
struct series_merge_batch {
	struct buffer bytes; /* of their values */
	struct series_merge_record {
		uint32_t series, at; /* begin in `bytes` */
		struct text rollup;
		struct wire_buckets buckets;
	} * records;
	uint32_t count, room;
};

/* All zero: empty. */
struct series_merge {
	struct series_merge_batch kept, given;
	int64_t hour_ns;
	uint32_t next; /* record to give */
	/* Of the series that is given. */
	uint32_t series;
	struct text rollup;
	struct wire_bucket *buckets;
	uint32_t bucket_count, bucket_room, bucket_next;
};

void series_merge_clear(struct series_merge *merge);
/* Forget all records. */
void series_merge_reset(struct series_merge *merge);

/* Keep a record, whose rollup must live as long; one of another hour than those
 * before it calls series_merge_give first.  False: they are too many. */
bool series_merge_keep(struct series_merge *merge, int64_t hour_ns,
    uint32_t series, struct text rollup, const struct wire_buckets *buckets);
/* The records are complete: give them, after all earlier ones were given.
 * False: there are none. */
bool series_merge_give(struct series_merge *merge);
/* 1 and the next bucket of a series, whose number and rollup `merge` has; 0:
 * all were given; -1: the bytes are not buckets. */
int series_merge_next(struct series_merge *merge, struct wire_bucket *bucket);

#endif
