/*
 * change_points - detect lasting level changes in a series.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/change_points.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"

struct item {
	double value;
	uint32_t index;
};

struct finder {
	struct item *items; /* buffer for ranking */
	double wider;       /* how many times the critical values */
	double *sums; /* cumulative centred ranks: sums[i] covers the first i
			 values */
};

/* The position with the largest difference so far, and the square of that
 * difference, not yet divided by the variance. */
struct best {
	double square;
	uint32_t at;
};

static int
by_value(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

double
change_points_median(double *values, uint32_t count)
{
	assert(count > 0);
	sort_doubles(values, count);
	return quantile_median(values, count);
}

/* Cumulative sums of the centred ranks; equal values share a rank.  Returns
 * the variance of the ranks. */
static double
rank(struct finder *finder, const double *values, uint32_t count)
{
	struct item *items = finder->items;
	double middle = (count - 1) / 2.0, squares = 0;

	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct item){ values[i], i };
	qsort(items, count, sizeof(*items), by_value);
	for (uint32_t i = 0, end; i < count; i = end) {
		double centred;

		for (end = i; end < count && items[end].value == items[i].value;
		     end++)
			;
		centred = (i + end - 1) / 2.0 - middle;
		for (uint32_t k = i; k < end; k++)
			finder->sums[items[k].index + 1] = centred;
		squares += centred * centred * (end - i);
	}
	finder->sums[0] = 0;
	for (uint32_t i = 0; i < count; i++)
		finder->sums[i + 1] += finder->sums[i];
	return squares / count;
}

static void
search(
    const struct finder *finder, uint32_t from, uint32_t to, struct best *best)
{
	const double *sums = finder->sums;
	double all = to - from, total = sums[to] - sums[from];

	for (uint32_t k = from + CHANGE_POINTS_SIDE;
	     k + CHANGE_POINTS_SIDE <= to; k++) {
		double left = k - from, right = to - k;
		double surplus = (sums[k] - sums[from]) * all - total * left;
		double square = surplus * surplus / (left * right * all);

		if (square > best->square)
			*best = (struct best){ square, k };
	}
}

/* Each layer has more and shorter intervals than the previous one.  The small
 * offset keeps exact integers from being rounded up. */
static void
search_all(const struct finder *finder, uint32_t count, struct best *best)
{
	const double little = 1e-9;

	search(finder, 0, count, best);
	for (int layer = 1;; layer++) {
		double length = count * exp2(-layer / 2.0), shift;
		uint32_t intervals =
		    2 * (uint32_t)ceil(exp2(layer / 2.0) - little) - 1;

		if (length < 2 * CHANGE_POINTS_SIDE)
			return;
		shift = (count - length) / (intervals - 1);
		for (uint32_t i = 0; i < intervals; i++) {
			double to = ceil(i * shift + length - little);

			search(finder, (uint32_t)(i * shift + little),
			    to < count ? (uint32_t)to : count, best);
		}
	}
}

static double
greatest(struct finder *finder, const double *values, uint32_t count,
    bool everywhere, uint32_t *at)
{
	struct best best = { 0, 0 };
	double variance;

	if (count < 2 * CHANGE_POINTS_SIDE)
		return 0;
	variance = rank(finder, values, count);
	if (variance == 0)
		return 0;
	if (everywhere)
		search_all(finder, count, &best);
	else
		search(finder, 0, count, &best);
	*at = best.at;
	return sqrt(best.square / variance);
}

double
change_points_critical(uint32_t count)
{
	/* Critical values for 8, 16, 32 ... values, as tests/bench/changes.c
	 * prints them; the one for 16 is raised a little to hold between 8 and
	 * 16 too. */
	static const double values[] = { 2.469, 3.185, 3.523, 3.820, 4.060,
		4.261, 4.397, 4.588, 4.733, 4.879, 5.007, 5.156, 5.308, 5.426,
		5.537 };
	enum { VALUES = sizeof(values) / sizeof(*values) };
	double layer = log2(count) - 3;
	int i = layer < 0 ? 0 : (int)layer;

	/* In a series this short, chance often produces the maximum. */
	if (count < CHANGE_POINTS_LEAST)
		return (double)INFINITY;
	if (i > VALUES - 2)
		i = VALUES - 2;
	return values[i] + (values[i + 1] - values[i]) * (layer - i);
}

/* ---- recursive division ---- */

/* The end of part `i`; the first part begins at 0. */
static uint32_t
end_of(const struct change_points *change_points, uint32_t i, uint32_t count)
{
	return i < change_points->count ? change_points->at[i] : count;
}

static uint32_t
begin_of(const struct change_points *change_points, uint32_t i)
{
	return i > 0 ? change_points->at[i - 1] : 0;
}

static void
insert(struct change_points *change_points, uint32_t i, uint32_t at)
{
	for (uint32_t k = change_points->count++; k > i; k--)
		change_points->at[k] = change_points->at[k - 1];
	change_points->at[i] = at;
}

static void
drop(struct change_points *change_points, uint32_t i)
{
	change_points->count--;
	for (uint32_t k = i; k < change_points->count; k++)
		change_points->at[k] = change_points->at[k + 1];
}

/* Divide every part that contains a change, until no part does. */
static void
divide(struct finder *finder, struct change_points *change_points,
    const double *values, uint32_t count)
{
	bool done[CHANGE_POINTS_MAX + 1] = { false };
	bool divided = true;

	while (divided) {
		divided = false;
		for (uint32_t i = 0; i <= change_points->count &&
				     change_points->count < CHANGE_POINTS_MAX;
		     i++) {
			uint32_t from = begin_of(change_points, i), at = 0;
			uint32_t among = end_of(change_points, i, count) - from;

			if (done[i])
				continue;
			done[i] = true;
			if (greatest(finder, values + from, among, true, &at) <=
			    finder->wider * change_points_critical(among))
				continue;
			for (uint32_t k = change_points->count; k > i; k--)
				done[k + 1] = done[k];
			insert(change_points, i, from + at);
			done[i] = done[i + 1] = false;
			divided = true;
			i++; /* the next round examines both halves */
		}
	}
}

/* Move each change to its best position and drop the weakest of those that
 * chance explains.  True: one was dropped, so its neighbours have more room. */
static bool
settle(struct finder *finder, struct change_points *change_points,
    const double *values, uint32_t count)
{
	double weakest = 1;
	uint32_t which = 0;

	for (uint32_t i = 0; i < change_points->count; i++) {
		uint32_t from = begin_of(change_points, i), at = 0;
		uint32_t among = end_of(change_points, i + 1, count) - from;
		double size =
		    greatest(finder, values + from, among, false, &at) /
		    change_points_critical(among) / finder->wider;

		if (at > 0)
			change_points->at[i] = from + at;
		if (size < weakest) {
			weakest = size;
			which = i;
		}
	}
	if (weakest == 1)
		return false;
	drop(change_points, which);
	return true;
}

static void
open_finder(struct finder *finder, uint32_t count)
{
	finder->items = memory_zero(count + 1, sizeof(*finder->items));
	finder->sums = memory_zero(count + 1, sizeof(*finder->sums));
	finder->wider = 1;
}

static void
close_finder(struct finder *finder)
{
	free(finder->items);
	free(finder->sums);
}

static void
find(struct finder *finder, struct change_points *change_points,
    const double *values, uint32_t count)
{
	change_points->count = 0;
	divide(finder, change_points, values, count);
	while (settle(finder, change_points, values, count))
		;
}

/* ---- series of which each value is like the one before ---- */

/* The mean square of the differences of ranks from `first` to `last` values
 * apart, within the levels. */
static double
squares_apart(const struct finder *finder,
    const struct change_points *change_points, uint32_t count, uint32_t first,
    uint32_t last)
{
	const double *sums = finder->sums;
	double squares = 0, pairs = 0;

	for (uint32_t i = 0; i <= change_points->count; i++)
		for (uint32_t apart = first; apart <= last; apart++)
			for (uint32_t k = begin_of(change_points, i) + apart;
			     k < end_of(change_points, i, count); k++) {
				double rank = sums[k + 1] - sums[k];
				uint32_t before = k - apart;
				double difference =
				    rank - sums[before + 1] + sums[before];

				squares += difference * difference;
				pairs++;
			}
	return pairs > 0 ? squares / pairs : 0;
}

/* The correlation of a rank with the one before it, from differences, which no
 * level that was found wrongly, or not found, makes much of: those of
 * neighbours are the smaller the more they are correlated, those of values 3 to
 * 8 apart are as of values that are not. */
static double
correlation(struct finder *finder, const struct change_points *change_points,
    const double *values, uint32_t count)
{
	double far;

	rank(finder, values, count);
	far = squares_apart(finder, change_points, count, 3, 8);
	return far > 0
		   ? 1 - squares_apart(finder, change_points, count, 1, 1) / far
		   : 0;
}

/* The standard error of a mean grows with sqrt((1 + r) / (1 - r)); what r lacks
 * and how it varies is made up for by numbers that were fitted to series of 100
 * values with r from 0 to 0.5.  A series in which something was found has more
 * parts in which chance may be taken for a change. */
static double
widening(double r, bool has_parts)
{
	static const struct fit {
		double times, power, more;
	} fits[] = { { 0.86, 0.55, 0.05 }, { 0.95, 0.47, 0 } };
	const struct fit *fit = &fits[has_parts];
	double most = 0.7, fitted = 1.1 * r + fit->more;

	if (fitted < 0)
		fitted = 0;
	if (fitted > most)
		fitted = most;
	return fit->times * pow((1 + fitted) / (1 - fitted), fit->power);
}

void
change_points_find(
    struct change_points *change_points, const double *values, uint32_t count)
{
	struct finder finder;

	open_finder(&finder, count);
	find(&finder, change_points, values, count);
	if (count >= CHANGE_POINTS_LEAST) {
		finder.wider =
		    widening(correlation(&finder, change_points, values, count),
			change_points->count > 0);
		find(&finder, change_points, values, count);
	}
	close_finder(&finder);
}

double
change_points_greatest(const double *values, uint32_t count, uint32_t *at)
{
	struct finder finder;
	double size;

	open_finder(&finder, count);
	size = greatest(&finder, values, count, true, at);
	close_finder(&finder);
	return size;
}
