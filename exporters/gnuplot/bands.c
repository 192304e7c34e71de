/*
 * bands - the table of how nodes divide a time between phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/bands.h"

#include <stdlib.h>

static int
by_total(const void *left, const void *right)
{
	const struct bands_row *a = left, *b = right;

	if (a->total_s != b->total_s)
		return a->total_s < b->total_s ? -1 : 1;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

void
bands_sort(struct bands *bands)
{
	if (bands->count > BANDS_BARS)
		qsort(
		    bands->rows, bands->count, sizeof(*bands->rows), by_total);
}

static uint32_t
step_count(const struct bands *bands)
{
	return bands->count < BANDS_STEPS ? bands->count : BANDS_STEPS;
}

/* The rows of a step: [first, end). */
static void
step_rows(
    const struct bands *bands, uint32_t step, uint32_t *first, uint32_t *end)
{
	uint64_t count = bands->count, steps = step_count(bands);

	*first = (uint32_t)(count * step / steps);
	*end = (uint32_t)(count * (step + 1) / steps);
}

static void
put_step(const struct bands *bands, FILE *file, uint32_t step)
{
	double seconds[BANDS_MAX] = { 0 }, total = 0;
	uint32_t first, end;

	step_rows(bands, step, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		for (unsigned band = 0; band < bands->band_count; band++)
			seconds[band] += bands->rows[i].seconds[band];
		total += bands->rows[i].total_s;
	}
	fprintf(file, "%u %u ", first + 1, end);
	if (end - first == 1)
		gnuplot_put_word(file, bands->rows[first].node);
	else
		putc('-', file);
	for (unsigned band = 0; band < bands->band_count; band++)
		fprintf(file, " %.6f", seconds[band] / (end - first));
	fprintf(file, " %.6f\n", total / (end - first));
}

void
bands_table(const void *what, FILE *file)
{
	const struct bands *bands = what;

	fputs("First Last Node", file);
	for (unsigned band = 0; band < bands->band_count; band++) {
		putc(' ', file);
		gnuplot_put_word(file, bands->band[band].column);
	}
	fputs(" Total\n", file);
	for (uint32_t step = 0; step < step_count(bands); step++)
		put_step(bands, file, step);
}
