/*
 * phases_plot_private - shared by phases_plot, phases_script and
 * phases_colours.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PHASES_PLOT_PRIVATE_H
#define EXPORTERS_CASCADE_PHASES_PLOT_PRIVATE_H

#include "exporters/cascade/phases_plot.h"

/* The bands from the bottom up, in the order in which they usually happen. */
struct phases_band {
	enum phases_part part;
	const char *column, *title, *colour;
};
extern const struct phases_band phases_bands[PHASES_PARTS];

struct phases_row {
	const struct cascade_node *node;
	struct phases_times times;
};

struct phases_plot {
	const struct cascade *cascade;
	struct phases_row *rows; /* in drawing order */
	uint32_t count;
	bool bars;
	bool has[PHASES_PARTS]; /* at least one node spent time in it */
};

/* The first column of the table with a band; the first column is 1. */
enum { PHASES_BAND_COLUMN = 4 };

#endif
