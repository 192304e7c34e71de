/*
 * result_plot - plot the timings of an entry.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static double *
new_values(uint32_t count)
{
	double *values = memory_zero(count, sizeof(*values));

	return values;
}

/* ---- levels ---- */

static void
find_levels(struct result_plot *plot, const struct result_point *points,
    double *values, uint32_t count)
{
	struct change_points change_points;

	for (uint32_t i = 0; i < count; i++)
		values[i] = points[i].value;
	change_points_find(&change_points, values, count);
	for (uint32_t i = 0; i <= change_points.count; i++) {
		uint32_t from = i > 0 ? change_points.at[i - 1] : 0;
		uint32_t to =
		    i < change_points.count ? change_points.at[i] : count;
		struct result_level *level = &plot->levels[i];
		double before = i > 0 ? level[-1].median : 0;

		*level = (struct result_level){
			.from = points[from].time,
			.to = points[to < count ? to : count - 1].time,
			.median =
			    change_points_median(values + from, to - from),
		};
		level->percent = before > 0 ? 100 * (level->median / before - 1)
					    : (double)NAN;
	}
	plot->level_count = change_points.count + 1;
}

/* ---- steps ---- */

static double
choose_step(double span)
{
	static const double minutes[] = { 1, 5, 10, 30, 60, 180, 360, 720, 1440,
		2880, 10080, 43200, 129600 };
	double step = minutes[0];

	for (size_t i = 0; i < sizeof(minutes) / sizeof(*minutes); i++) {
		step = minutes[i] * 60;
		if (span / step < RESULT_PLOT_STEPS)
			return step;
	}
	while (span / step >= RESULT_PLOT_STEPS)
		step *= 2;
	return step;
}

/* Sorts `values`. */
static struct result_step
make_step(double time, double *values, uint32_t count)
{
	struct result_step step = { .time = time, .runs = count };

	step.median = change_points_median(values, count);
	step.least = values[0];
	step.lower = values[(count - 1) / 4];
	step.upper = values[count - 1 - (count - 1) / 4];
	step.greatest = values[count - 1];
	return step;
}

static void
make_steps(struct result_plot *plot, const struct result_point *points,
    double *values, uint32_t count)
{
	double width = plot->step_seconds;

	for (uint32_t i = 0, end; i < count; i = end) {
		double number = width > 0 ? floor(points[i].time / width) : i;

		for (end = i; end < count; end++) {
			if (width > 0
				? floor(points[end].time / width) != number
				: end > i)
				break;
			values[end] = points[end].value;
		}
		plot->steps[plot->step_count++] = make_step(
		    width > 0 ? (number + 0.5) * width : points[i].time,
		    values + i, end - i);
	}
}

/* gnuplot cannot compute with numbers further out. */
#define DRAWN_LEAST 1e-300
#define DRAWN_MOST  1e300

/* A few outliers must not flatten all other points.  Every level is within the
 * range, with space above them for labels. */
static void
choose_range(struct result_plot *plot, double *values, uint32_t count)
{
	uint32_t few = count / 100;
	double low, high, beyond, size;

	plot->median = change_points_median(values, count);
	low = values[few];
	high = values[count - 1 - few];
	for (uint32_t i = 0; i < plot->level_count; i++) {
		low = fmin(low, plot->levels[i].median);
		high = fmax(high, plot->levels[i].median);
	}
	beyond = 0.5 * (high - low);
	plot->low = fmax(values[0], low - beyond);
	plot->high = fmin(values[count - 1], high + beyond);
	plot->low = fmax(fmin(plot->low, DRAWN_MOST / 2), -DRAWN_MOST);
	plot->high = fmin(fmax(plot->high, -DRAWN_MOST / 2), DRAWN_MOST);
	beyond = 0.06 * (plot->high - plot->low);
	/* gnuplot draws no range that is tiny for its numbers. */
	size = fmax(fabs(plot->low), fabs(plot->high));
	if (beyond <= 1e-6 * size || size < DRAWN_LEAST)
		beyond = size < DRAWN_LEAST ? 1 : 0.1 * size;
	plot->low -= plot->low >= 0 && plot->low < beyond ? plot->low : beyond;
	plot->high += plot->level_count > 1 ? 4 * beyond : beyond;
	plot->low = fmax(plot->low, -DRAWN_MOST);
	plot->high = fmin(plot->high, DRAWN_MOST);
	for (uint32_t i = 0; i < count; i++)
		plot->beyond += values[i] < plot->low || values[i] > plot->high;
}

void
result_plot_init(
    struct result_plot *plot, const struct result_point *points, uint32_t count)
{
	double *values = new_values(count);

	memset(plot, 0, sizeof(*plot));
	plot->runs = count;
	plot->first = points[0].time;
	plot->last = points[count - 1].time;
	if (count > RESULT_PLOT_POINTS)
		plot->step_seconds = choose_step(plot->last - plot->first);
	plot->steps = memory_zero(count, sizeof(*plot->steps));
	find_levels(plot, points, values, count);
	make_steps(plot, points, values, count);
	choose_range(plot, values, count);
	free(values);
}

void
result_plot_clear(struct result_plot *plot)
{
	free(plot->steps);
	plot->steps = NULL;
}

void
result_plot_table(const void *what, FILE *file)
{
	const struct result_plot *plot = what;

	fputs("# Time Median Least Lower Upper Greatest Runs\n", file);
	for (uint32_t i = 0; i < plot->step_count; i++) {
		const struct result_step *s = &plot->steps[i];

		fprintf(file, "%.6f %.9g %.9g %.9g %.9g %.9g %u\n", s->time,
		    s->median, s->least, s->lower, s->upper, s->greatest,
		    s->runs);
	}
	fputs("\n\n# From To Median Percent\n", file);
	for (uint32_t i = 0; i < plot->level_count; i++) {
		const struct result_level *level = &plot->levels[i];

		fprintf(file, "%.6f %.6f %.9g ", level->from, level->to,
		    level->median);
		if (isnan(level->percent))
			fputs("-\n", file);
		else
			fprintf(file, "%.3f\n", level->percent);
	}
}
