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

enum { SINGLES_MIN = 16 }; /* a shorter run is not worth a record of its own */

/* Consecutive steps of one metric, returned as one record. */
struct sequence {
	const struct metric_column *column;
	int64_t begin_ns;
	uint32_t count;
	bool is_cells;
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
		.values = sequence->is_cells
			      ? 0
			      : sequence->count * (sequence->column->counter
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

/* How many buckets from this one on, at most `most`, have one sample, of one
 * boot and one type? */
static uint32_t
count_singles(const struct bucket *bucket, uint32_t most)
{
	const struct counter_rate_sample *first = &bucket->first;
	uint32_t count = 0;

	while (count < most && bucket[count].count == 1 &&
	       bucket[count].first.value.type == first->value.type &&
	       bucket[count].first.boot == first->boot)
		count++;
	return count;
}

static void
put_singles(struct series *series, const struct bucket *bucket, uint32_t count,
    struct sequence *sequence)
{
	const struct wire_singles singles = { .counter =
						  sequence->column->counter,
		.type = bucket->first.value.type,
		.boot = bucket->first.boot,
		.count = count };
	char *to = (char *)series->values;

	_Static_assert(
	    WIRE_CELL_BYTES * (WIRE_SINGLES_CELLS + 2 * WIRE_PER_RECORD_MAX) <=
		sizeof(series->values),
	    "the cells have room");
	wire_begin_singles(to, &singles);
	for (uint32_t i = 0; i < count; i++)
		wire_put_single(to, &singles, i, &bucket[i].first);
	sequence->values.bytes = wire_singles_bytes(count);
	sequence->is_cells = true;
	sequence->count = count;
}

/* How many consecutive buckets may a record have that begins with this one? */
static uint32_t
most_of(const struct series *series, const struct page *page, uint64_t left,
    int64_t begin_ns)
{
	int64_t most = page->query->per_record;

	if (most > WIRE_PER_RECORD_MAX)
		most = WIRE_PER_RECORD_MAX;
	if (most > (int64_t)left)
		most = (int64_t)left;
	/* A bucket that ends after all times is shorter, so it is alone. */
	if (most > (TIME_MAX_NS - begin_ns) / series->step_ns)
		most = (TIME_MAX_NS - begin_ns) / series->step_ns;
	return most < 1 ? 1 : (uint32_t)most;
}

/* Collect consecutive buckets from number `at` of the group on; returns the
 * number after the last one. */
static uint64_t
take_sequence(struct series *series, const struct page *page,
    const struct series_group *group, const struct series_input *part,
    uint64_t at, struct sequence *sequence)
{
	uint64_t column = at / group->steps;
	uint64_t left = (column + 1) * group->steps - at;
	const struct bucket *bucket =
	    &series->buckets[at - (uint64_t)group->first * group->steps];
	uint32_t most, singles = 0;

	*sequence =
	    (struct sequence){ .column = &series->columns->wanted[column],
		    .begin_ns = group->hour_ns + (int64_t)(at % group->steps) *
						     series->step_ns };
	most = most_of(series, page, left, sequence->begin_ns);
	wire_writer_init(
	    &sequence->values, series->values, sizeof(series->values));
	/* What a rollup says of one sample is not computed from it. */
	if (part->rollup == ROLLUP_RAW && most >= SINGLES_MIN)
		singles = count_singles(bucket, most);
	if (singles >= SINGLES_MIN)
		put_singles(series, bucket, singles, sequence);
	else
		for (uint32_t i = 0; i < most && bucket[i].count > 0; i++)
			add_to_sequence(sequence, &bucket[i]);
	return at + sequence->count;
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
		at = take_sequence(series, page, group, part, at, &sequence);
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
