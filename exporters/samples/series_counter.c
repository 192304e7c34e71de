/*
 * series_counter - what counters did between two samples, in steps.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/series_private.h"

#include <math.h>
#include <string.h>

/* ---- intervals ---- */

/* From the last sample of the bucket before to the first of this one. */
static struct series_interval
between(const struct one *one, const struct counter_rate_sample *first)
{
	struct counter_rate rate =
	    counter_rate_between(&one->rate, &one->last, first);
	struct series_interval interval = { .begin_ns = one->last.time_ns,
		.end_ns = first->time_ns,
		.booted = counter_rate_booted(&one->last, first),
		.increase = rate.increase,
		.seconds = rate.seconds,
		.low = NAN,
		.high = NAN,
		.count = 1 };

	/* Where a counter began again is not known: its increase is spread over
	 * the whole interval, like any other. */
	if (interval.begin_ns >= interval.end_ns)
		interval.begin_ns = interval.end_ns - 1;
	if (rate.seconds > 0)
		interval.low = interval.high = rate.increase / rate.seconds;
	return interval;
}

static bool
is_in_window(const struct series *s, int64_t time_ns)
{
	return time_ns >= s->from_ns && time_ns < s->to_ns;
}

/* Take a bucket of series->ones[series->last], whose sample times are shown
 * times: compute the intervals up to its first and its last sample. */
void
series_counter_take(struct series *s, const struct wire_bucket *bucket)
{
	struct one *one = &s->ones[s->last];
	struct series_interval within = { .begin_ns = bucket->first.time_ns,
		.end_ns = bucket->last.time_ns,
		.booted = counter_rate_booted(&bucket->first, &bucket->last),
		.increase = bucket->mean,
		.seconds = bucket->seconds,
		.low = bucket->low,
		.high = bucket->high,
		.count = bucket->count - 1 };

	s->interval_count = s->interval_next = 0;
	s->reached_ns = TIME_MIN_NS;
	if (one->closed)
		return;
	if (s->phase == SERIES_BEHIND &&
	    bucket->first.time_ns <= one->last.time_ns)
		return;
	if (s->phase != SERIES_BEFORE && one->seen)
		s->interval[s->interval_count++] = between(one, &bucket->first);
	if (s->phase == SERIES_WINDOW && is_in_window(s, bucket->last.time_ns))
		one->sampled = true;
	if (s->phase == SERIES_WINDOW && bucket->count > 1) {
		if (within.begin_ns >= within.end_ns)
			within.begin_ns = within.end_ns - 1;
		s->interval[s->interval_count++] = within;
	}
	one->last = bucket->last;
	if (s->phase == SERIES_WINDOW || one->rollup.bytes == 0)
		one->rollup = s->rollup;
	one->seen = true;
	one->closed = s->phase == SERIES_BEHIND;
}

/* The part of the interval in [from, to), as a fraction: *of / *all. */
static bool
get_part(const struct series_interval *interval, int64_t from_ns, int64_t to_ns,
    double *of, double *all)
{
	int64_t from =
	    interval->begin_ns > from_ns ? interval->begin_ns : from_ns;
	int64_t to = interval->end_ns < to_ns ? interval->end_ns : to_ns;

	*of = (double)(to - from);
	*all = (double)(interval->end_ns - interval->begin_ns);
	return from < to;
}

/* ---- points ---- */

/* Set what identifies the series. */
void
series_name_point(
    const struct series *s, uint32_t number, struct series_point *point)
{
	const struct one *one = &s->ones[number];

	/* Member by member: clearing it all first takes longer than the rest of
	 * a point. */
	point->number = number;
	point->node = one->node;
	point->group = one->group;
	point->metric = one->metric;
	point->unit = one->unit;
	point->labels = one->labels;
	point->rollup = one->rollup;
	point->counter = point->booted = false;
	point->last.type = VALUE_NIL;
	point->count = 0;
	point->increase = point->seconds = 0;
}

/* The store does not separate the growth with a known rate from the growth
 * without one: keep the mean rate between the extremes. */
static double
mean_rate(double increase, double seconds, double low, double high)
{
	double mean = increase / seconds;

	if (!(seconds > 0))
		return NAN;
	if (mean > high)
		return high;
	return mean < low ? low : mean;
}

static void
set_interval(struct series *s, const struct series_interval *interval,
    struct series_point *point)
{
	double of, all;

	series_name_point(s, s->last, point);
	point->counter = true;
	point->begin_ns =
	    interval->begin_ns > s->from_ns ? interval->begin_ns : s->from_ns;
	point->end_ns =
	    interval->end_ns < s->to_ns ? interval->end_ns : s->to_ns;
	of = (double)(point->end_ns - point->begin_ns);
	all = (double)(interval->end_ns - interval->begin_ns);
	point->first_ns = interval->begin_ns;
	point->last_ns = interval->end_ns;
	point->booted = interval->booted;
	point->count = interval->count;
	point->low = interval->low;
	point->high = interval->high;
	point->mean = mean_rate(interval->increase, interval->seconds,
	    interval->low, interval->high);
	point->increase = interval->increase * of / all;
	point->seconds = interval->seconds * of / all;
}

/* The same where nothing is to be cut: true and the point, which is the only
 * one, of a bucket of one sample.  False: nothing was done. */
bool
series_counter_single(struct series *s, const struct wire_bucket *bucket,
    struct series_point *point)
{
	struct one *one = &s->ones[s->last];
	struct series_interval interval;

	if (!s->intervals || bucket->count != 1 || s->phase != SERIES_WINDOW ||
	    !one->seen || one->closed || one->last.time_ns < s->from_ns ||
	    one->last.time_ns >= bucket->first.time_ns ||
	    bucket->first.time_ns >= s->to_ns)
		return false;
	interval = between(one, &bucket->first);
	if (!(interval.seconds > 0))
		return false;
	one->last = bucket->last;
	one->rollup = s->rollup;
	one->sampled = one->used = true;
	set_interval(s, &interval, point);
	return true;
}

static void
end_cell(struct series *s, uint32_t number, struct series_point *point)
{
	struct series_cell *cell = &s->ones[number].cell;

	series_name_point(s, number, point);
	point->counter = true;
	point->begin_ns = cell->begin_ns;
	point->end_ns = cell->begin_ns + s->step_ns;
	point->first_ns = cell->first_ns;
	point->last_ns = cell->last_ns;
	point->count = cell->count;
	point->low = cell->low;
	point->high = cell->high;
	point->mean =
	    mean_rate(cell->known, cell->seconds, cell->low, cell->high);
	point->increase = cell->increase;
	point->seconds = cell->seconds;
	cell->used = false;
}

/* A counter with samples in the window, but no interval. */
static void
set_single(const struct series *s, uint32_t number, struct series_point *point)
{
	const struct one *one = &s->ones[number];

	series_name_point(s, number, point);
	point->counter = true;
	point->end_ns = point->first_ns = point->last_ns = one->last.time_ns;
	point->begin_ns = point->end_ns - 1;
	point->low = point->high = point->mean = NAN;
}

int64_t
series_floor_to(int64_t time_ns, int64_t step_ns)
{
	int64_t past = time_ns % step_ns;

	return time_ns - (past < 0 ? past + step_ns : past);
}

/* Add the part of the interval that lies in the cell and in the window. */
static void
add_to_cell(const struct series *s, const struct series_interval *interval,
    struct series_cell *cell)
{
	int64_t end_ns = cell->begin_ns + s->step_ns;
	double of, all;

	if (!get_part(interval,
		cell->begin_ns > s->from_ns ? cell->begin_ns : s->from_ns,
		end_ns < s->to_ns ? end_ns : s->to_ns, &of, &all))
		return;
	cell->increase += interval->increase * of / all;
	if (interval->end_ns <= end_ns)
		cell->count += interval->count;
	if (!(interval->seconds > 0))
		return;
	cell->known += interval->increase * of / all;
	cell->seconds += interval->seconds * of / all;
	cell->low = fmin(cell->low, interval->low); /* they ignore NaN */
	cell->high = fmax(cell->high, interval->high);
}

/* The interval up to the end of the next step; true: a step is complete. */
static bool
spread(struct series *s, const struct series_interval *interval,
    struct series_point *point)
{
	struct series_cell *cell = &s->ones[s->last].cell;
	int64_t begin_ns = series_floor_to(s->reached_ns, s->step_ns);

	if (cell->used && cell->begin_ns != begin_ns) {
		end_cell(s, s->last, point);
		return true;
	}
	if (!cell->used)
		*cell = (struct series_cell){ .used = true,
			.begin_ns = begin_ns,
			.first_ns = s->reached_ns,
			.low = NAN,
			.high = NAN };
	add_to_cell(s, interval, cell);
	s->reached_ns = begin_ns + s->step_ns;
	/* The step may end in the future: not so what was measured in it. */
	cell->last_ns =
	    s->reached_ns < interval->end_ns ? s->reached_ns : interval->end_ns;
	return false;
}

/* The next point of these intervals.  False: they are used up. */
bool
series_counter_next(struct series *s, struct series_point *point)
{
	while (s->interval_next < s->interval_count) {
		const struct series_interval *interval =
		    &s->interval[s->interval_next];
		double of, all;

		if (s->reached_ns < interval->begin_ns)
			s->reached_ns = interval->begin_ns;
		if (s->reached_ns < s->from_ns)
			s->reached_ns = s->from_ns;
		if (s->reached_ns >= interval->end_ns ||
		    !get_part(interval, s->reached_ns, s->to_ns, &of, &all)) {
			s->interval_next++;
			s->reached_ns = TIME_MIN_NS;
		} else if (s->intervals) {
			set_interval(s, interval, point);
			s->reached_ns = interval->end_ns;
			s->ones[s->last].used = true;
			return true;
		} else if (spread(s, interval, point)) {
			return true;
		}
	}
	return false;
}

/* The next point of the unfinished steps of all series. */
bool
series_counter_flush(struct series *s, struct series_point *point)
{
	while (s->flushed < s->keys.count) {
		uint32_t number = s->flushed++;

		if (s->ones[number].cell.used) {
			end_cell(s, number, point);
			return true;
		}
		if (s->single && s->ones[number].sampled &&
		    !s->ones[number].used) {
			set_single(s, number, point);
			return true;
		}
	}
	return false;
}
