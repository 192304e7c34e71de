/*
 * cascade_breakdown_plot - the picture of what really adds up in a pool's
 * start-up. SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/breakdown_rows.h"

#include <stdlib.h>

#include "exporters/cascade/dat_files.h"

const struct phases_band phases_bands[BANDS] = {
	{ BAND_PREPARATION, "Preparation", "node preparation", "#4e79a7" },
	{ BAND_HELPER, "HelperPull", "helper image", "#a0cbe8" },
	{ BAND_REGISTRY, "Registry", "private registry", "#b07aa1" },
	{ BAND_WAIT, "Wait", "waiting", "#dddddd" },
	{ BAND_PULL, "Pull", "image pull", "#f28e2b" },
	{ BAND_TORRENT, "Torrent", "image from peers", "#59a14f" },
	{ BAND_LOAD, "Load", "image load", "#edc948" },
	{ BAND_SAVE, "Save", "image save", "#e15759" },
	{ BAND_OTHER, "Other", "rest of the global resources", "#9d9690" },
};

static int
by_total(const void *a, const void *b)
{
	const struct phases_row *p = a, *q = b;

	if (p->bands.total != q->bands.total)
		return p->bands.total < q->bands.total ? -1 : 1;
	return p->node < q->node ? -1 : p->node > q->node;
}

struct phases_plot *
phases_plot_new(const struct cascade *cascade)
{
	struct phases_plot *plot = calloc(1, sizeof(*plot));
	bool drawn = false;

	if (plot == NULL)
		abort(); /* out of memory */
	plot->cascade = cascade;
	plot->rows = calloc(cascade->complete + 1, sizeof(*plot->rows));
	if (plot->rows == NULL)
		abort();
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];
		struct phases_row *row = &plot->rows[plot->count];

		if (node->missing != 0)
			continue;
		*row = (struct phases_row){ node, bands_of(cascade, node) };
		for (int band = 0; band < BANDS; band++)
			plot->has[band] |= row->bands.seconds[band] > 0;
		drawn |= row->bands.total > 0;
		plot->count++;
	}
	/* Where clocks jumped, gr-done can lie before nodeprep:start and no
	 * band be left: the picture is empty, not impossible. */
	plot->has[BAND_OTHER] |= !drawn;
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
	double seconds[BANDS] = { 0 }, total = 0;
	uint32_t first, end;

	step_rows(plot, step, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		for (int band = 0; band < BANDS; band++)
			seconds[band] += plot->rows[i].bands.seconds[band];
		total += plot->rows[i].bands.total;
	}
	fprintf(file, "%u %u ", first + 1, end);
	if (end - first == 1)
		cascade_put_word(file, plot->rows[first].node->name);
	else
		putc('-', file);
	for (int i = 0; i < BANDS; i++)
		fprintf(file, " %.6f",
		    seconds[phases_bands[i].band] / (end - first));
	fprintf(file, " %.6f\n", total / (end - first));
}

void
phases_plot_dat(const struct phases_plot *plot, FILE *file)
{
	fputs("First Last Node", file);
	for (int i = 0; i < BANDS; i++)
		fprintf(file, " %s", phases_bands[i].column);
	fputs(" Total\n", file);
	for (uint32_t step = 0; step < step_count(plot); step++)
		put_step(plot, file, step);
}
