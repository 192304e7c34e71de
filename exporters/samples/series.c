/*
 * series - the values of metrics in each time step, with units.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { KEY_BYTES = 3 * (NAME_BYTES_MAX + 1) };

/* ---- definitions ---- */

static struct wire_query
groups_query(void)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	query.name = text_of("set:*");
	return query;
}

void
series_ahead(struct source *source, struct text partition)
{
	const struct wire_query query = groups_query();

	source_ahead(source, SOURCE_RECORDS, partition, &query);
}

static int
read_groups(struct series *s, struct err *err)
{
	const struct wire_query query = groups_query();
	struct record record;
	int rc;

	if (source_select(
		s->source, SOURCE_RECORDS, s->partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(s->source, &record, err)) > 0)
		columns_take(&s->groups, &record);
	return rc;
}

int
series_open(struct series **series, struct source *source,
    struct text partition, struct err *err)
{
	struct series *s = memory_zero(1, sizeof(*s));

	s->source = source;
	string_table_init(&s->texts);
	string_table_init(&s->keys);
	columns_init(&s->groups);
	joined_init(&s->joined);
	s->partition = string_table_text(&s->texts, partition);
	*series = s;
	if (read_groups(s, err) == 0)
		return 0;
	series_close(series);
	return -1;
}

void
series_close(struct series **series)
{
	struct series *s = *series;

	if (s == NULL)
		return;
	string_table_clear(&s->texts);
	string_table_clear(&s->keys);
	free(s->ones);
	columns_clear(&s->groups);
	joined_clear(&s->joined);
	series_merge_clear(&s->merge);
	free(s);
	*series = NULL;
}

void
series_forget(struct series *series)
{
	string_table_clear(&series->keys);
	string_table_init(&series->keys);
	free(series->ones);
	series->ones = NULL;
	series->ones_room = 0;
	series->last = 0;
}

static void
offer(struct nearest *nearest, struct text name)
{
	char word[NAME_BYTES_MAX + 1];

	snprintf(word, sizeof(word), "%.*s", (int)name.bytes, name.at);
	nearest_offer(nearest, word);
}

void
series_offer(
    const struct series *series, bool is_group, struct nearest *nearest)
{
	const struct column_groups *groups = &series->groups;

	for (uint32_t i = 0; i < groups->names.count; i++) {
		if (is_group)
			offer(nearest, groups->names.names[i]);
		for (uint32_t k = 0; !is_group && k < groups->at[i].count; k++)
			offer(nearest, groups->at[i].names[k]);
	}
}

/* ---- queries ---- */

/* The source widens a window by what clocks are off.  Apart by the spread, the
 * widened windows of the phases touch and do not overlap. */
static int
select_phase(struct series *s, struct err *err)
{
	struct wire_query query = s->query;

	s->buckets.left = 0;
	switch (s->phase) {
	case SERIES_BEFORE:
		query.step_ns = HOUR_NS;
		query.to_ns = s->from_ns - s->spread_ns;
		query.from_ns = query.to_ns - HOUR_NS;
		break;
	case SERIES_BEHIND:
		query.step_ns = HOUR_NS;
		query.from_ns = s->to_ns + s->spread_ns;
		query.to_ns = query.from_ns + HOUR_NS;
		break;
	case SERIES_WINDOW: break;
	case SERIES_FLUSH: return 0;
	}
	return source_select(
	    s->source, SOURCE_RECORDS, s->partition, &query, err);
}

/* Load the clocks for all phases at once. */
static int
load_clocks(struct series *s, struct err *err)
{
	struct wire_query wide = s->query;
	struct wire_query moment = s->query;

	if (s->from_ns > TIME_MIN_NS + 2 * HOUR_NS)
		wide.from_ns -= 2 * HOUR_NS;
	if (s->to_ns < TIME_MAX_NS - 2 * HOUR_NS)
		wide.to_ns += 2 * HOUR_NS;
	if (source_load_clocks(s->source, s->partition, &wide, err) != 0)
		return -1;
	moment.from_ns = moment.to_ns = 0;
	source_clock_widen(source_clock(s->source), &moment);
	s->spread_ns = moment.to_ns - moment.from_ns;
	s->moves =
	    source_clock_moves(source_clock(s->source), SOURCE_CLOCK_EXACT_NS);
	return 0;
}

static bool
has_phase(const struct series *s)
{
	int64_t far_ns = 2 * HOUR_NS + s->spread_ns;

	if (s->phase == SERIES_BEFORE)
		return s->from_ns > TIME_MIN_NS + far_ns &&
		       (!s->nothing_before || s->moves);
	return s->phase != SERIES_BEHIND ||
	       (s->to_ns < TIME_MAX_NS - far_ns &&
		   (!s->nothing_behind || s->moves));
}

static int
next_phase(struct series *s, struct err *err)
{
	do
		s->phase++;
	while (!has_phase(s));
	return select_phase(s, err);
}

int
series_select(
    struct series *series, const struct series_query *query, struct err *err)
{
	struct wire_query *wire = &series->query;

	*wire = source_query(1u << RECORD_SAMPLE);
	wire->node = query->node;
	wire->name = query->group;
	wire->columns = query->metric;
	wire->from_ns = series->from_ns = query->from_ns;
	wire->to_ns = series->to_ns = query->to_ns;
	wire->step_ns = series->step_ns = series_fit_step(query->step_ns);
	wire->per_record = WIRE_PER_RECORD_MAX;
	series->nothing_before = query->nothing_before;
	series->nothing_behind = query->nothing_behind;
	series->intervals = query->intervals;
	series->single = query->single;
	series->interval_count = series->interval_next = series->flushed = 0;
	joined_read(&series->joined, &series->groups, query->group);
	series_merge_reset(&series->merge);
	for (uint32_t i = 0; i < series->keys.count; i++) {
		struct one *one = &series->ones[i];

		one->source.bytes = 0; /* the query has another pattern */
		one->seen = one->closed = one->sampled = one->used =
		    one->cell.used = false;
	}
	if (load_clocks(series, err) != 0)
		return -1;
	series->phase = SERIES_BEFORE;
	return has_phase(series) ? select_phase(series, err)
				 : next_phase(series, err);
}

/* ---- points ---- */

static char *
put_part(char *to, struct text part)
{
	if (part.bytes > 0)
		memcpy(to, part.at, part.bytes);
	to[part.bytes] = '\0';
	return to + part.bytes + 1;
}

static bool
is_same(const struct one *one, const struct record *record)
{
	return text_equal(one->metric, record->name) &&
	       text_equal(one->node, record->node) &&
	       text_equal(one->source, record->source);
}

/* What the definitions say of the metric of a record. */
static struct one
define_one(struct series *s, const struct record *record)
{
	struct one one = { .node = record->node,
		.group = record->source,
		.source = string_table_text(&s->texts, record->source),
		.metric = record->name,
		.unit = { "", 0 } };
	uint32_t group = columns_group(&s->groups, record->source);
	const struct columns *columns = &s->groups.at[group];
	uint32_t i = 0;

	one.labels = columns->labels;
	while (i < columns->count && !text_equal(columns->names[i], one.metric))
		i++;
	if (i < columns->count) {
		one.unit = columns->units[i];
		one.joined =
		    joined_find(&s->joined, &s->groups, group, i, &one.group);
	}
	return one;
}

/* It is the last one then. */
static void
find_one(struct series *s, const struct record *record)
{
	uint32_t before = s->keys.count, number;
	char key[KEY_BYTES], *end = key;
	struct one one;

	if (before > 0 && is_same(&s->ones[s->last], record))
		return;
	one = define_one(s, record);
	end = put_part(end, one.node);
	end = put_part(end, one.group);
	end = put_part(end, one.metric);
	number = string_table_add(
	    &s->keys, (struct text){ key, (uint32_t)(end - key) });
	s->last = number;
	if (number < before) {
		s->ones[number].source = one.source;
		s->ones[number].joined = one.joined;
		return;
	}
	MEMORY_GROW(s->ones, s->ones_room, number);
	one.node = string_table_text(&s->texts, one.node);
	one.group = string_table_text(&s->texts, one.group);
	one.metric = string_table_text(&s->texts, one.metric);
	one.rate = counter_rate_column_of(one.group, one.metric, one.unit);
	s->ones[number] = one;
}

static int
is_none(const struct series *s, struct err *err)
{
	return err_set(err,
	    "%s does not support time steps: its poolscope-aggregator is older",
	    source_name(s->source));
}

/* Steps of gauges stay in their grid: shift them by whole steps, so that a
 * clock that is off by less than half a step shifts nothing. */
static void
move_step(struct series_point *point, int64_t off_ns)
{
	int64_t step_ns = point->end_ns - point->begin_ns;
	int64_t steps = off_ns / step_ns, rest_ns = off_ns % step_ns;
	int64_t begin_ns, end_ns;

	if (rest_ns > step_ns / 2)
		steps++;
	else if (rest_ns < -step_ns / 2)
		steps--;
	/* Do not shift a time out of the valid range. */
	if (!__builtin_add_overflow(
		point->begin_ns, steps * step_ns, &begin_ns) &&
	    !__builtin_add_overflow(begin_ns, step_ns, &end_ns)) {
		point->begin_ns = begin_ns;
		point->end_ns = end_ns;
	}
}

/* The groups of a joined series come one behind the other. */
static int
keep_joined(struct series *s, int64_t time_ns, struct err *err)
{
	if (!series_merge_keep(&s->merge, series_floor_to(time_ns, HOUR_NS),
		s->last, s->rollup, &s->buckets))
		return err_set(err,
		    "the metrics that are in several metric groups take more "
		    "than %d MiB for an hour: select fewer with --metric, "
		    "--metric-group or --node",
		    SERIES_MERGE_BYTES_MAX >> 20);
	s->buckets.left = 0;
	return 1;
}

/* Read the next record and find its series.  0: the phase is over. */
static int
next_record(struct series *s, struct err *err)
{
	struct record record;
	int rc = source_next(s->source, &record, err);

	if (rc <= 0)
		return rc;
	if (!wire_buckets_init(&s->buckets, &record))
		return is_none(s, err);
	find_one(s, &record);
	if (!text_equal(s->rollup, record.key))
		s->rollup = string_table_text(&s->texts, record.key);
	/* Count the record for the words about the clock, too. */
	if (!s->moves && s->phase == SERIES_WINDOW)
		source_clock_shift(
		    source_clock(s->source), record.node, record.time_ns);
	return s->ones[s->last].joined ? keep_joined(s, record.time_ns, err)
				       : 1;
}

static int
next_merged(struct series *s, struct wire_bucket *bucket)
{
	int rc = series_merge_next(&s->merge, bucket);

	if (rc > 0) {
		s->last = s->merge.series;
		s->rollup = s->merge.rollup;
	}
	return rc;
}

/* The times of the bucket's samples become shown times. */
static int64_t
move_samples(struct series *s, struct wire_bucket *bucket)
{
	int64_t off_ns;

	if (!s->moves)
		return 0;
	off_ns = source_clock_shift(source_clock(s->source),
	    s->ones[s->last].node, bucket->last.time_ns);
	if (__builtin_add_overflow(
		bucket->first.time_ns, off_ns, &bucket->first.time_ns) ||
	    __builtin_add_overflow(
		bucket->last.time_ns, off_ns, &bucket->last.time_ns))
		return 0;
	return off_ns;
}

/* False: no sample of the gauge is in the window. */
static bool
set_gauge(struct series *s, const struct wire_bucket *bucket, int64_t off_ns,
    struct series_point *point)
{
	s->ones[s->last].rollup = s->rollup;
	series_name_point(s, s->last, point);
	point->begin_ns = bucket->begin_ns;
	point->end_ns = bucket->end_ns;
	point->first_ns = bucket->first.time_ns;
	point->last_ns = bucket->last.time_ns;
	point->last = bucket->last.value;
	point->count = bucket->count;
	point->low = bucket->low;
	point->high = bucket->high;
	point->mean = bucket->mean;
	if (s->moves)
		move_step(point, off_ns);
	return s->phase == SERIES_WINDOW && point->last_ns >= s->from_ns &&
	       point->first_ns < s->to_ns;
}

/* Read a bucket; 0: the phase is over. */
static int
next_bucket(struct series *s, struct wire_bucket *bucket, struct err *err)
{
	int rc;

	while ((rc = next_merged(s, bucket)) == 0 &&
	       (rc = wire_next_bucket(&s->buckets, bucket)) == 0) {
		rc = next_record(s, err);
		if (rc < 0 || (rc == 0 && !series_merge_give(&s->merge)))
			return rc;
	}
	return rc < 0 ? is_none(s, err) : 1;
}

int
series_next(struct series *s, struct series_point *point, struct err *err)
{
	struct wire_bucket *bucket = &s->bucket;
	int64_t off_ns;
	int rc;

	for (;;) {
		if (series_counter_next(s, point))
			return 1;
		if (s->phase == SERIES_FLUSH)
			return series_counter_flush(s, point);
		rc = next_bucket(s, bucket, err);
		if (rc < 0 || (rc == 0 && next_phase(s, err) != 0))
			return -1;
		if (rc == 0)
			continue;
		off_ns = move_samples(s, bucket);
		if (bucket->counter && series_counter_single(s, bucket, point))
			return 1;
		if (bucket->counter)
			series_counter_take(s, bucket);
		else if (set_gauge(s, bucket, off_ns, point))
			return 1;
	}
}
