/*
 * series - the values of metrics in each time step, with units.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/columns.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"
#include "proto/wire/buckets.h"

enum { KEY_BYTES = 3 * (NAME_BYTES_MAX + 1) };
#define HOUR_NS (INT64_C(3600) * NS_PER_SECOND)

/* One metric of one metric group of one node. */
struct one {
	struct text node, group, metric, unit;
	struct counter_rate_column rate;
	struct counter_rate_sample last; /* of the previous bucket, if `seen` */
	int64_t hour;                    /* the hour of that bucket */
	bool seen;
};

struct series {
	struct source *source;
	struct text partition;
	struct string_table texts; /* nodes, metrics, rollups, lists */
	struct string_table
	    keys; /* node, group and metric -> index into `ones` */
	struct one *ones;
	uint32_t ones_room;
	uint32_t
	    last; /* the last one: points of one series follow each other */
	struct text rollup;          /* the same for the group */
	struct wire_buckets buckets; /* remaining values of the record */
	int64_t from_ns, to_ns;      /* wanted metrics */
	bool moves;                  /* a clock may be off by a step or more */
	struct column_groups groups;
};

/* ---- definitions ---- */

static struct text
unit_of(struct series *s, struct text group, struct text metric)
{
	const struct columns *columns = columns_find(&s->groups, group);

	for (uint32_t i = 0; i < columns->count; i++)
		if (text_equal(columns->names[i], metric))
			return columns->units[i];
	return (struct text){ "", 0 };
}

static int
read_groups(struct series *s, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record record;
	int rc;

	query.name = text_of("set:*");
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
	free(s);
	*series = NULL;
}

/* ---- points ---- */

int
series_select(
    struct series *series, const struct series_query *query, struct err *err)
{
	struct wire_query wire = source_query(1u << RECORD_SAMPLE);

	wire.node = query->node;
	wire.name = query->group;
	wire.columns = query->metric;
	wire.from_ns = query->from_ns;
	wire.to_ns = query->to_ns;
	wire.step_ns = query->step_ns;
	series->from_ns = query->from_ns;
	series->to_ns = query->to_ns;
	wire.per_record = WIRE_PER_RECORD_MAX;
	series->buckets.left = 0;
	for (uint32_t i = 0; i < series->keys.count; i++)
		series->ones[i].seen = false;
	return source_select(
	    series->source, SOURCE_RECORDS, series->partition, &wire, err);
}

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
	       text_equal(one->group, record->source);
}

/* It is the last one then. */
static void
find_one(struct series *s, const struct record *record)
{
	uint32_t before = s->keys.count, number;
	char key[KEY_BYTES], *end = key;
	struct one *one;

	if (before > 0 && is_same(&s->ones[s->last], record))
		return;
	end = put_part(end, record->node);
	end = put_part(end, record->source);
	end = put_part(end, record->name);
	number = string_table_add(
	    &s->keys, (struct text){ key, (uint32_t)(end - key) });
	s->last = number;
	if (number < before)
		return;
	s->ones = memory_grow(s->ones, &s->ones_room, number, sizeof(*s->ones));
	one = &s->ones[number];
	*one = (struct one){ .node = string_table_text(&s->texts, record->node),
		.group = string_table_text(&s->texts, record->source),
		.metric = string_table_text(&s->texts, record->name) };
	one->unit = unit_of(s, one->group, one->metric);
	one->rate = counter_rate_column_of(one->metric, one->unit);
}

static int
is_none(const struct series *s, struct err *err)
{
	return err_set(err,
	    "%s does not support time steps: its poolscope-aggregator is older",
	    source_name(s->source));
}

/* Add the interval since the last sample of the previous hour. */
static void
bridge(const struct one *one, struct series_point *point)
{
	struct counter_rate counter_rate =
	    counter_rate_between(&one->rate, &one->last, &point->first);
	double per_second = counter_rate.increase / counter_rate.seconds;

	point->increase += counter_rate.increase;
	if (counter_rate.seconds <= 0)
		return;
	point->seconds += counter_rate.seconds;
	point->low =
	    fmin(point->low, per_second); /* fmin and fmax ignore NaN */
	point->high = fmax(point->high, per_second);
}

/* The store does not separate the growth with a known rate from the growth
 * without one: keep the mean rate between the extremes. */
static double
mean_rate(const struct series_point *point)
{
	double mean = point->increase / point->seconds;

	if (!(point->seconds > 0))
		return NAN;
	if (mean > point->high)
		return point->high;
	return mean < point->low ? point->low : mean;
}

/* Buckets stay in their grid: shift them by whole steps, so that a clock that
 * is off by less than half a step shifts nothing. */
static void
move_point(struct series *s, struct series_point *point)
{
	struct source_clock *clock = source_clock(s->source);
	int64_t step_ns = point->end_ns - point->begin_ns;
	int64_t off_ns =
	    source_clock_shift(clock, point->node, point->last.time_ns);
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

/* Read the next record and find its series. */
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
	s->moves =
	    source_clock_moves(source_clock(s->source), s->buckets.step_ns / 2);
	/* Count the record for the words about the clock, too. */
	if (!s->moves)
		source_clock_shift(
		    source_clock(s->source), record.node, record.time_ns);
	return 1;
}

static void
set_point(struct series_point *point, const struct wire_bucket *bucket)
{
	point->counter = bucket->counter;
	point->begin_ns = bucket->begin_ns;
	point->end_ns = bucket->end_ns;
	point->count = bucket->count;
	point->first = bucket->first;
	point->last = bucket->last;
	point->low = bucket->low;
	point->high = bucket->high;
	point->mean = bucket->mean;
	point->increase = bucket->counter ? bucket->mean : 0;
	point->seconds = bucket->seconds;
}

static int
next_point(struct series *s, struct series_point *point, struct err *err)
{
	struct wire_bucket bucket;
	struct one *one;
	int64_t hour;
	int rc;

	while ((rc = wire_next_bucket(&s->buckets, &bucket)) == 0)
		if ((rc = next_record(s, err)) <= 0)
			return rc;
	if (rc < 0)
		return is_none(s, err);
	one = &s->ones[s->last];
	point->number = s->last;
	point->node = one->node;
	point->group = one->group;
	point->metric = one->metric;
	point->unit = one->unit;
	point->rollup = s->rollup;
	set_point(point, &bucket);
	hour = bucket.begin_ns / HOUR_NS;
	if (point->counter && one->seen && one->hour != hour)
		bridge(one, point);
	if (point->counter)
		point->mean = mean_rate(point);
	one->last = point->last;
	one->hour = hour;
	one->seen = true;
	return 1;
}

int
series_next(struct series *s, struct series_point *point, struct err *err)
{
	int rc;

	while ((rc = next_point(s, point, err)) > 0) {
		if (s->moves)
			move_point(s, point);
		if (point->end_ns > s->from_ns && point->begin_ns < s->to_ns)
			break;
	}
	return rc;
}
