/*
 * phases_plot - the table of the picture of --view phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot_private.h"

#include <stdlib.h>

#include "exporters/cascade/cascade_plot.h"
#include "proto/base/memory.h"

static int
by_total(const void *a, const void *b)
{
	const struct phases_row *p = a, *q = b;

	if (p->times.total != q->times.total)
		return p->times.total < q->times.total ? -1 : 1;
	return p->node < q->node ? -1 : p->node > q->node;
}

struct phases_plot *
phases_plot_new(const struct cascade *cascade)
{
	struct phases_plot *plot = memory_zero(1, sizeof(*plot));
	bool drawn = false;

	plot->cascade = cascade;
	plot->rows = memory_zero(cascade->complete + 1, sizeof(*plot->rows));
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];
		struct phases_row *row = &plot->rows[plot->count];

		if (node->missing != 0)
			continue;
		*row =
		    (struct phases_row){ node, phases_times_of(cascade, node) };
		for (int band = 0; band < PHASES_PARTS; band++)
			plot->has[band] |= row->times.seconds[band] > 0;
		drawn |= row->times.total > 0;
		plot->count++;
	}
	/* If a clock jumped, gr-done can precede nodeprep:start and no band
	 * has a length: draw an empty picture. */
	plot->has[PHASES_OTHER] |= !drawn;
	plot->bars = plot->count <= PHASES_BARS;
	if (!plot->bars)
		qsort(plot->rows, plot->count, sizeof(*plot->rows), by_total);
	return plot;
}

void
phases_plot_free(struct phases_plot **plot)
{
	if (*plot == NULL)
		return;
	free((*plot)->rows);
	free(*plot);
	*plot = NULL;
}

/* ---- the table ---- */

static uint32_t
step_count(const struct phases_plot *plot)
{
	return plot->bars || plot->count < PHASES_STEPS ? plot->count
							: PHASES_STEPS;
}

/* The rows of a step: [first, end). */
static void
step_rows(const struct phases_plot *plot, uint32_t step, uint32_t *first,
    uint32_t *end)
{
	uint64_t count = plot->count, steps = step_count(plot);

	*first = (uint32_t)(count * step / steps);
	*end = (uint32_t)(count * (step + 1) / steps);
}

static void
put_step(const struct phases_plot *plot, FILE *file, uint32_t step)
{
	double seconds[PHASES_PARTS] = { 0 }, total = 0;
	uint32_t first, end;

	step_rows(plot, step, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		for (int band = 0; band < PHASES_PARTS; band++)
			seconds[band] += plot->rows[i].times.seconds[band];
		total += plot->rows[i].times.total;
	}
	fprintf(file, "%u %u ", first + 1, end);
	if (end - first == 1)
		gnuplot_put_word(file, plot->rows[first].node->name);
	else
		putc('-', file);
	for (int i = 0; i < PHASES_PARTS; i++)
		fprintf(file, " %.6f",
		    seconds[phases_bands[i].part] / (end - first));
	fprintf(file, " %.6f\n", total / (end - first));
}

void
phases_plot_dat(const struct phases_plot *plot, FILE *file)
{
	fputs("First Last Node", file);
	for (int i = 0; i < PHASES_PARTS; i++)
		fprintf(file, " %s", phases_bands[i].column);
	fputs(" Total\n", file);
	for (uint32_t step = 0; step < step_count(plot); step++)
		put_step(plot, file, step);
}
