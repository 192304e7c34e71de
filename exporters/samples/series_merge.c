/*
 * series_merge - the buckets of series that come in several metric groups, in
 * the order of time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series_merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

void
series_merge_clear(struct series_merge *merge)
{
	struct series_merge_batch *batches[] = { &merge->kept, &merge->given };

	for (int i = 0; i < 2; i++) {
		buffer_clear(&batches[i]->bytes);
		free(batches[i]->records);
	}
	free(merge->buckets);
	memset(merge, 0, sizeof(*merge));
}

static void
empty(struct series_merge_batch *batch)
{
	batch->count = 0;
	batch->bytes.bytes = 0;
}

void
series_merge_reset(struct series_merge *merge)
{
	empty(&merge->kept);
	empty(&merge->given);
	merge->next = merge->bucket_count = merge->bucket_next = 0;
}

/* ---- giving ---- */

static int
by_series(const void *left, const void *right)
{
	const struct series_merge_record *a = left, *b = right;

	return (a->series > b->series) - (a->series < b->series);
}

bool
series_merge_give(struct series_merge *merge)
{
	struct series_merge_batch given = merge->given;

	merge->given = merge->kept;
	merge->kept = given;
	empty(&merge->kept);
	merge->next = merge->bucket_count = merge->bucket_next = 0;
	if (merge->given.count > 1)
		qsort(merge->given.records, merge->given.count,
		    sizeof(*merge->given.records), by_series);
	return merge->given.count > 0;
}

bool
series_merge_keep(struct series_merge *merge, int64_t hour_ns, uint32_t series,
    struct text rollup, const struct wire_buckets *buckets)
{
	struct series_merge_batch *batch = &merge->kept;

	if (batch->count > 0 && merge->hour_ns != hour_ns)
		series_merge_give(merge);
	if (batch->bytes.bytes + buckets->rest.bytes > SERIES_MERGE_BYTES_MAX)
		return false;
	merge->hour_ns = hour_ns;
	*MEMORY_ADD(batch->records, batch->room, batch->count) =
	    (struct series_merge_record){
		    .series = series,
		    .at = (uint32_t)batch->bytes.bytes,
		    .rollup = rollup,
		    .buckets = *buckets,
	    };
	buffer_put_text(&batch->bytes, buckets->rest);
	return true;
}

static int
by_time(const void *left, const void *right)
{
	const struct wire_bucket *a = left, *b = right;

	if (a->first.time_ns != b->first.time_ns)
		return a->first.time_ns < b->first.time_ns ? -1 : 1;
	return (a->last.time_ns > b->last.time_ns) -
	       (a->last.time_ns < b->last.time_ns);
}

/* A step of a gauge has one bucket. */
static bool
add_gauge(struct wire_bucket *to, const struct wire_bucket *bucket)
{
	double count = (double)to->count + (double)bucket->count;

	if (to->begin_ns != bucket->begin_ns || to->end_ns != bucket->end_ns)
		return false;
	to->mean += (bucket->mean - to->mean) * (double)bucket->count / count;
	to->count += bucket->count;
	to->low = fmin(to->low, bucket->low);
	to->high = fmax(to->high, bucket->high);
	if (bucket->last.time_ns >= to->last.time_ns)
		to->last = bucket->last;
	return true;
}

/* What a counter did up to the end of `before` is in it: of a bucket that
 * begins before that end the last sample is left. */
static bool
add_counter(struct wire_bucket *before, struct wire_bucket *bucket)
{
	if (bucket->first.time_ns > before->last.time_ns)
		return false;
	if (bucket->last.time_ns <= before->last.time_ns) {
		before->count += bucket->count;
		return true;
	}
	before->count += bucket->count - 1;
	bucket->first = bucket->last;
	bucket->count = 1;
	bucket->mean = bucket->seconds = 0;
	bucket->low = bucket->high = NAN;
	return false;
}

/* False: it is a bucket of its own. */
static bool
add(struct wire_bucket *before, struct wire_bucket *bucket)
{
	if (before->counter != bucket->counter)
		return false;
	if (bucket->count == 0)
		return true; /* nothing is in it */
	return bucket->counter ? add_counter(before, bucket)
			       : add_gauge(before, bucket);
}

static void
sort_buckets(struct series_merge *merge)
{
	uint32_t count = 0;

	if (merge->bucket_count > 1)
		qsort(merge->buckets, merge->bucket_count,
		    sizeof(*merge->buckets), by_time);
	for (uint32_t i = 0; i < merge->bucket_count; i++) {
		struct wire_bucket *bucket = &merge->buckets[i];

		if (count > 0 && add(&merge->buckets[count - 1], bucket))
			continue;
		merge->buckets[count++] = *bucket;
	}
	merge->bucket_count = count;
}

static int
take_record(struct series_merge *merge, const struct series_merge_record *from)
{
	struct wire_buckets buckets = from->buckets;
	int rc;

	buckets.rest.at = (const char *)merge->given.bytes.at + from->at;
	do {
		MEMORY_GROW(
		    merge->buckets, merge->bucket_room, merge->bucket_count);
		rc = wire_next_bucket(
		    &buckets, &merge->buckets[merge->bucket_count]);
		merge->bucket_count += rc > 0;
	} while (rc > 0);
	return rc;
}

/* Read all records of the next series. */
static int
next_series(struct series_merge *merge)
{
	const struct series_merge_batch *given = &merge->given;

	merge->series = given->records[merge->next].series;
	merge->rollup = given->records[merge->next].rollup;
	merge->bucket_count = merge->bucket_next = 0;
	while (merge->next < given->count &&
	       given->records[merge->next].series == merge->series)
		if (take_record(merge, &given->records[merge->next++]) != 0)
			return -1;
	sort_buckets(merge);
	return 0;
}

int
series_merge_next(struct series_merge *merge, struct wire_bucket *bucket)
{
	while (merge->bucket_next == merge->bucket_count) {
		if (merge->next == merge->given.count)
			return 0;
		if (next_series(merge) != 0)
			return -1;
	}
	*bucket = merge->buckets[merge->bucket_next++];
	return 1;
}
