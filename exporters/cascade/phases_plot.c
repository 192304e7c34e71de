/*
 * phases_plot - the picture of --view phases.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/cascade/cascade_plot.h"
#include "proto/base/memory.h"

/* The bands from the bottom up, in the order in which they usually happen. */
static const struct {
	enum phases_part part;
	enum cascade_phase phase; /* whose name it has */
} parts[PHASES_PARTS] = {
	{ PHASES_PREPARATION, CASCADE_NODEPREP },
	{ PHASES_HELPER, CASCADE_SHIPYARD },
	{ PHASES_REGISTRY, CASCADE_REGISTRY },
	{ PHASES_WAIT, CASCADE_PHASES },
	{ PHASES_PULL, CASCADE_PULL },
	{ PHASES_TORRENT, CASCADE_TORRENT },
	{ PHASES_LOAD, CASCADE_LOAD },
	{ PHASES_SAVE, CASCADE_SAVE },
	{ PHASES_OTHER, CASCADE_GLOBAL },
};

/* As in every picture of the model. */
static struct band
band_of(int part)
{
	struct band band = { .title = text_of("no phase"),
		.column = text_of("no_phase"),
		.place = PALETTE_NONE };

	if (parts[part].phase == CASCADE_PHASES)
		return band;
	band.title = band.column =
	    text_of(cascade_names[parts[part].phase].name);
	palette_place(&band.title, 1, &band.place);
	return band;
}

static struct bands_row
row_of(const struct cascade *cascade, const struct cascade_node *node)
{
	struct phases_times times = phases_times_of(cascade, node);
	struct bands_row row = { .node = node->name, .total_s = times.total };
	int64_t us = 0;

	cascade_start_us(node, &us);
	row.start_s = (double)(us - cascade->first_us) / 1e6;
	for (int i = 0; i < PHASES_PARTS; i++)
		row.seconds[i] = times.seconds[parts[i].part];
	return row;
}

/* Only the bands in which at least one node spent time. */
static void
set_bands(struct bands *bands)
{
	bool has[PHASES_PARTS] = { false };
	uint32_t to = 0;

	_Static_assert(
	    (int)PHASES_PARTS <= (int)BANDS_MAX, "enlarge BANDS_MAX");
	for (uint32_t i = 0; i < bands->count; i++)
		for (int part = 0; part < PHASES_PARTS; part++)
			has[part] |= bands->rows[i].seconds[part] > 0;
	for (int part = 0; part < PHASES_PARTS; part++) {
		/* If a clock jumped, gr-done can precede nodeprep:start and no
		 * band has a length: draw an empty picture. */
		if (!has[part] && (to > 0 || part + 1 < PHASES_PARTS))
			continue;
		bands->band[to] = band_of(part);
		for (uint32_t i = 0; i < bands->count; i++)
			bands->rows[i].seconds[to] =
			    bands->rows[i].seconds[part];
		to++;
	}
	bands->band_count = to;
}

struct phases_plot *
phases_plot_new(const struct cascade *cascade, struct text pool)
{
	struct phases_plot *plot = memory_zero(1, sizeof(*plot));
	struct bands *bands = &plot->bands;
	size_t used;

	strcpy(plot->title, "Startup of pool ");
	used = strlen(plot->title);
	cascade_put_title(
	    cascade, pool, plot->title + used, sizeof(plot->title) - used);
	if (cascade->clock[0] != '\0')
		snprintf(plot->note, sizeof(plot->note), " Of the %s.",
		    cascade->clock);
	*bands = (struct bands){
		.title = plot->title,
		.note = plot->note,
		.subject = "Startup time",
		.zero = "the node's preparation began",
		.total = "the time from the start of preparation to all global "
			 "resources",
	};
	bands->rows = memory_zero(cascade->complete + 1, sizeof(*bands->rows));
	for (uint32_t i = 0; i < cascade->node_count; i++)
		if (cascade->nodes[i].missing == 0)
			bands->rows[bands->count++] =
			    row_of(cascade, &cascade->nodes[i]);
	set_bands(bands);
	bands_sort(bands);
	return plot;
}

void
phases_plot_free(struct phases_plot **plot)
{
	if (*plot == NULL)
		return;
	free((*plot)->bands.rows);
	free(*plot);
	*plot = NULL;
}
