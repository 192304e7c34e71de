/*
 * cascade_breakdown_plot - the picture of the phases that add up to a pool's
 * startup time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/breakdown_rows.h"

#include <stdlib.h>

#include "exporters/cascade/dat_files.h"
#include "proto/base/memory.h"

const struct breakdown_band breakdown_bands[BREAKDOWN_PARTS] = {
	{ BREAKDOWN_PREPARATION, "Preparation", "node preparation", "#4e79a7" },
	{ BREAKDOWN_HELPER, "HelperPull", "helper image", "#a0cbe8" },
	{ BREAKDOWN_REGISTRY, "Registry", "private registry", "#b07aa1" },
	{ BREAKDOWN_WAIT, "Wait", "waiting", "#dddddd" },
	{ BREAKDOWN_PULL, "Pull", "image pull", "#f28e2b" },
	{ BREAKDOWN_TORRENT, "Torrent", "image from peers", "#59a14f" },
	{ BREAKDOWN_LOAD, "Load", "image load", "#edc948" },
	{ BREAKDOWN_SAVE, "Save", "image save", "#e15759" },
	{ BREAKDOWN_OTHER, "Other", "rest of the global resources", "#9d9690" },
};

static int
by_total(const void *a, const void *b)
{
	const struct breakdown_row *p = a, *q = b;

	if (p->breakdown.total != q->breakdown.total)
		return p->breakdown.total < q->breakdown.total ? -1 : 1;
	return p->node < q->node ? -1 : p->node > q->node;
}

struct breakdown_plot *
breakdown_plot_new(const struct cascade *cascade)
{
	struct breakdown_plot *plot = memory_zero(1, sizeof(*plot));
	bool drawn = false;

	plot->cascade = cascade;
	plot->rows = memory_zero(cascade->complete + 1, sizeof(*plot->rows));
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];
		struct breakdown_row *row = &plot->rows[plot->count];

		if (node->missing != 0)
			continue;
		*row =
		    (struct breakdown_row){ node, breakdown_of(cascade, node) };
		for (int band = 0; band < BREAKDOWN_PARTS; band++)
			plot->has[band] |= row->breakdown.seconds[band] > 0;
		drawn |= row->breakdown.total > 0;
		plot->count++;
	}
	/* If a clock jumped, gr-done can precede nodeprep:start and no band
	 * has a length: draw an empty picture. */
	plot->has[BREAKDOWN_OTHER] |= !drawn;
	plot->bars = plot->count <= BREAKDOWN_BARS;
	if (!plot->bars)
		qsort(plot->rows, plot->count, sizeof(*plot->rows), by_total);
	return plot;
}

void
breakdown_plot_free(struct breakdown_plot **plot)
{
	if (*plot == NULL)
		return;
	free((*plot)->rows);
	free(*plot);
	*plot = NULL;
}

/* ---- the table ---- */

static uint32_t
step_count(const struct breakdown_plot *plot)
{
	return plot->bars || plot->count < BREAKDOWN_STEPS ? plot->count
							   : BREAKDOWN_STEPS;
}

/* The rows of a step: [first, end). */
static void
step_rows(const struct breakdown_plot *plot, uint32_t step, uint32_t *first,
    uint32_t *end)
{
	uint64_t count = plot->count, steps = step_count(plot);

	*first = (uint32_t)(count * step / steps);
	*end = (uint32_t)(count * (step + 1) / steps);
}

static void
put_step(const struct breakdown_plot *plot, FILE *file, uint32_t step)
{
	double seconds[BREAKDOWN_PARTS] = { 0 }, total = 0;
	uint32_t first, end;

	step_rows(plot, step, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		for (int band = 0; band < BREAKDOWN_PARTS; band++)
			seconds[band] += plot->rows[i].breakdown.seconds[band];
		total += plot->rows[i].breakdown.total;
	}
	fprintf(file, "%u %u ", first + 1, end);
	if (end - first == 1)
		cascade_put_word(file, plot->rows[first].node->name);
	else
		putc('-', file);
	for (int i = 0; i < BREAKDOWN_PARTS; i++)
		fprintf(file, " %.6f",
		    seconds[breakdown_bands[i].breakdown_part] / (end - first));
	fprintf(file, " %.6f\n", total / (end - first));
}

void
breakdown_plot_dat(const struct breakdown_plot *plot, FILE *file)
{
	fputs("First Last Node", file);
	for (int i = 0; i < BREAKDOWN_PARTS; i++)
		fprintf(file, " %s", breakdown_bands[i].column);
	fputs(" Total\n", file);
	for (uint32_t step = 0; step < step_count(plot); step++)
		put_step(plot, file, step);
}
