/*
 * series - samples as buckets: the query, and the records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct series *
series_new(void)
{
	struct series *series = memory_zero(1, sizeof(*series));

	series->buckets =
	    memory_alloc(SERIES_BUCKETS * sizeof(*series->buckets));
	return series;
}

void
series_free(struct series **series)
{
	struct series *old = *series;

	*series = NULL;
	if (old == NULL)
		return;
	for (uint32_t i = 0; i < SERIES_GROUPS; i++)
		metric_columns_clear(&old->groups[i].columns);
	free(old->buckets);
	free(old->boot);
	rollup_list_clear(&old->rollups);
	free(old);
}

/* ---- the query ---- */

/* The next longer step that divides an hour. */
static int64_t
fit_step(int64_t step_ns)
{
	static const int64_t small_ns[] = { 100000000, 200000000, 500000000 };
	int64_t seconds = 3600;

	for (unsigned i = 0; i < 3; i++)
		if (step_ns <= small_ns[i])
			return small_ns[i];
	if (step_ns < KEY_HOUR_NS)
		seconds = (step_ns + 999999999) / 1000000000;
	while (3600 % seconds != 0)
		seconds++;
	return seconds * 1000000000;
}

bool
series_asked(const struct wire_query *query, struct wire_query *fitted)
{
	*fitted = *query;
	if (query->step_ns <= 0 || (query->kinds & (1u << RECORD_SAMPLE)) == 0)
		return false;
	fitted->kinds = 1u << RECORD_SAMPLE;
	fitted->step_ns = fit_step(query->step_ns);
	return true;
}

void
series_begin(struct series *series, struct page *page)
{
	series->step_ns = page->query->step_ns;
	rollup_list_forget(&series->rollups);
	for (uint32_t i = 0; i < SERIES_GROUPS; i++)
		series->groups[i].track = 0;
}

struct rollup_list *
series_rollups(struct series *series)
{
	return &series->rollups;
}

bool
series_wants(
    struct series *series, struct page *page, uint32_t track, struct text name)
{
	struct series_group_cache *group =
	    &series->groups[track % SERIES_GROUPS];

	if (group->track != track) {
		group->track = track;
		metric_columns_find(&group->columns, page->txn, page->partition,
		    name, page->query->columns);
	}
	series->columns = &group->columns;
	return group->columns.count > 0;
}

/* ---- the metrics of a page ---- */

static struct series_group
group_of(const struct series *series, const struct series_input *part)
{
	struct series_group group = {
		.steps = (uint32_t)(KEY_HOUR_NS / series->step_ns),
		.hour_ns = (int64_t)part->key.hour * KEY_HOUR_NS,
	};
	uint32_t fit = SERIES_BUCKETS / group.steps;
	uint32_t left;

	group.first = (uint32_t)(part->skip / group.steps);
	if (group.first > series->columns->count)
		group.first = series->columns->count;
	left = series->columns->count - group.first;
	group.end = group.first + (left < fit ? left : fit);
	return group;
}

/* ---- buckets to records ---- */

/* Consecutive steps of one metric, returned as one record. */
struct sequence {
	const struct metric_column *column;
	int64_t begin_ns;
	uint32_t count;
	struct wire_writer values;
};

static void
add_to_sequence(struct sequence *sequence, const struct bucket *bucket)
{
	bool counter = sequence->column->counter;
	const struct wire_bucket wire = {
		.counter = counter,
		.count = bucket->count,
		.first = bucket->first,
		.last = bucket->last,
		.low = bucket->low,
		.high = bucket->high,
		.mean = counter ? bucket->sum : bucket_mean(bucket),
		.seconds = bucket->seconds,
	};

	wire_put_bucket(&sequence->values, &wire);
	sequence->count++;
}

static bool
put_sequence(struct page *page, const struct series_input *part,
    const struct sequence *sequence)
{
	int64_t end_ns =
	    sequence->begin_ns + sequence->count * page->series->step_ns;
	struct record record = { .kind = RECORD_SAMPLE,
		.node = part->node,
		.source = part->group,
		.name = sequence->column->name,
		.key = text_of(rollup_name(part->rollup)),
		.time_ns = sequence->begin_ns < TIME_MAX_NS ? sequence->begin_ns
							    : TIME_MAX_NS - 1,
		.end_ns = end_ns < TIME_MAX_NS ? end_ns : TIME_MAX_NS,
		.count = sequence->count > 1 ? sequence->count : 0,
		.values = sequence->count * (sequence->column->counter
						    ? WIRE_BUCKET_COUNTER
						    : WIRE_BUCKET_GAUGE),
		.value_bytes = { (const char *)sequence->values.at,
		    (uint32_t)sequence->values.bytes } };

	return page_put(page, &record);
}

static void
set_cursor(struct page *page, const struct series_input *part, uint64_t given)
{
	struct page_cursor *mark = &page->cursor;

	memset(mark, 0, sizeof(*mark));
	mark->kind = RECORD_SAMPLE;
	mark->hour = part->key.hour;
	mark->node = part->key.node;
	mark->track = part->key.track;
	mark->id.time_ns =
	    INT64_MIN; /* all samples of the series block are selected */
	mark->number = given;
}

/* Collect consecutive buckets from number `at` of the group on; returns the
 * number after the last one. */
static uint64_t
take_sequence(struct series *series, const struct page *page,
    const struct series_group *group, uint64_t at, struct sequence *sequence)
{
	uint64_t column = at / group->steps, first = group->first;
	uint64_t end = (column + 1) * group->steps;
	uint32_t most = page->query->per_record;

	sequence->column = &series->columns->wanted[column];
	sequence->begin_ns =
	    group->hour_ns + (int64_t)(at % group->steps) * series->step_ns;
	sequence->count = 0;
	wire_writer_init(
	    &sequence->values, series->values, sizeof(series->values));
	most = most < 1                     ? 1
	       : most > WIRE_PER_RECORD_MAX ? WIRE_PER_RECORD_MAX
					    : most;
	for (; at < end && sequence->count < most; at++) {
		const struct bucket *bucket =
		    &series->buckets[at - first * group->steps];

		if (bucket->count == 0)
			break;
		/* A bucket that ends after all times is shorter, so it is
		 * alone. */
		if (sequence->count > 0 &&
		    sequence->begin_ns +
			    (sequence->count + 1) * series->step_ns >
			TIME_MAX_NS)
			break;
		add_to_sequence(sequence, bucket);
	}
	return at;
}

static bool
put_group(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	uint64_t start = (uint64_t)group->first * group->steps, at = start;
	uint64_t end = (uint64_t)group->end * group->steps;
	struct sequence sequence;

	if (at < part->skip)
		at = part->skip;
	while (at < end) {
		if (series->buckets[at - start].count == 0) {
			at++;
			continue;
		}
		at = take_sequence(series, page, group, at, &sequence);
		if (!put_sequence(page, part, &sequence))
			return false;
		set_cursor(page, part, at);
	}
	return true;
}

bool
series_append(
    struct series *series, struct page *page, const struct series_input *part)
{
	struct series_group group;

	/* If only a coarser rollup is left, its step is used. */
	series->step_ns = page->query->step_ns;
	if (series->step_ns < rollup_step_ns(part->rollup))
		series->step_ns = rollup_step_ns(part->rollup);
	group = group_of(series, part);
	if (group.first < group.end) {
		series_add(series, page, part, &group);
		if (!put_group(series, page, part, &group))
			return false;
	}
	/* No sample has a value of the metrics that are left. */
	if (group.end < series->columns->count && group.first < group.end &&
	    series->columns->wanted[group.end].index >= series->most_values)
		group.end = series->columns->count;
	set_cursor(page, part, (uint64_t)group.end * group.steps);
	/* The samples have been read: the other metrics need another page. */
	if (group.end < series->columns->count)
		page->full = true;
	return !page_examined(page);
}
