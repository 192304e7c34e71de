/*
 * samples_plot - the data table of a picture of one metric.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/plot.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/plot/gnuplot.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

bool
samples_plot_is_lines(const struct samples_plot *plot)
{
	return plot->metric->count <= SAMPLES_LINES;
}

uint32_t
samples_plot_map_rows(const struct samples_plot *plot)
{
	return plot->metric->count < SAMPLES_MAP_ROWS ? plot->metric->count
						      : SAMPLES_MAP_ROWS;
}

const char *
samples_plot_step(char to[static 24], int64_t step_ns)
{
	double seconds = (double)step_ns / 1e9;

	if (seconds >= 3600)
		snprintf(to, 24, "%g h", seconds / 3600);
	else if (seconds >= 60)
		snprintf(to, 24, "%g min", seconds / 60);
	else
		snprintf(to, 24, "%g s", seconds);
	return to;
}

/* The middle of a step, seconds since the epoch. */
static double
time_of(const struct samples *samples, uint32_t step)
{
	return (double)(samples->from_ns + step * samples->step_ns +
			samples->step_ns / 2) /
	       1e9;
}

static void
put_number(FILE *file, double value)
{
	if (isnan(value))
		fputs(" nan", file);
	else
		fprintf(file, " %.16g", value);
}

/* ---- one line for each node ---- */

static void
put_line(
    const struct samples *samples, FILE *file, const struct samples_row *row)
{
	bool missing = false;

	fputs("# ", file);
	gnuplot_put_word(file, row->node);
	fputs("\n# time mean low high\n", file);
	for (uint32_t i = 0; i < samples->steps; i++) {
		const struct samples_cell *cell = &row->cells[i];

		if (isnan(cell->mean)) {
			if (!missing)
				putc('\n', file);
			missing = true;
			continue;
		}
		missing = false;
		fprintf(file, "%.2f", time_of(samples, i));
		put_number(file, cell->mean);
		put_number(file, cell->low);
		put_number(file, cell->high);
		putc('\n', file);
	}
	fputs("\n\n", file);
}

/* ---- the band ---- */

static int
by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void
put_band_step(
    const struct samples_plot *plot, FILE *file, uint32_t step, double *means)
{
	const struct samples_metric *metric = plot->metric;
	double low = NAN, high = NAN;
	uint32_t count = 0;

	for (uint32_t i = 0; i < metric->count; i++) {
		const struct samples_cell *cell = &metric->rows[i].cells[step];

		if (isnan(cell->mean))
			continue;
		low = fmin(low, cell->low);
		high = fmax(high, cell->high);
		means[count++] = cell->mean;
	}
	fprintf(file, "%.2f", time_of(plot->samples, step));
	qsort(means, count, sizeof(*means), by_value);
	put_number(file, low);
	put_number(file,
	    count > 0 ? (means[(count - 1) / 2] + means[count / 2]) / 2 : NAN);
	put_number(file, high);
	fprintf(file, " %u\n", count);
}

/* ---- the map ---- */

/* The greatest of rows [first, end): a mean would hide a busy node. */
static double
greatest_of(const struct samples_metric *metric, uint32_t first, uint32_t end,
    uint32_t step)
{
	double greatest = NAN;

	for (uint32_t i = first; i < end; i++)
		greatest = fmax(greatest, metric->rows[i].cells[step].mean);
	return greatest;
}

static void
put_map(const struct samples_plot *plot, FILE *file)
{
	uint64_t count = plot->metric->count;
	uint64_t rows = samples_plot_map_rows(plot);

	fputs("\n\n# a line a row of the map, a column a step\n", file);
	for (uint64_t row = 0; row < rows; row++) {
		uint32_t first = (uint32_t)(count * row / rows);
		uint32_t end = (uint32_t)(count * (row + 1) / rows);

		for (uint32_t i = 0; i < plot->samples->steps; i++)
			put_number(
			    file, greatest_of(plot->metric, first, end, i));
		putc('\n', file);
	}
}

void
samples_plot_table(const void *what, FILE *file)
{
	const struct samples_plot *plot = what;
	double *means;

	if (samples_plot_is_lines(plot)) {
		for (uint32_t i = 0; i < plot->metric->count; i++)
			put_line(plot->samples, file, &plot->metric->rows[i]);
		return;
	}
	means = memory_zero(plot->metric->count, sizeof(*means));
	fputs("# time least median greatest nodes\n", file);
	for (uint32_t i = 0; i < plot->samples->steps; i++)
		put_band_step(plot, file, i, means);
	free(means);
	put_map(plot, file);
}
