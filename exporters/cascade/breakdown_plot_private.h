/*
 * cascade_breakdown_plot_private - shared by breakdown_plot and
 * breakdown_script.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_PLOT_PRIVATE_H
#define EXPORTERS_CASCADE_BREAKDOWN_PLOT_PRIVATE_H

#include "exporters/cascade/breakdown_plot.h"

/* The bands from the bottom up, in the order in which they usually happen. */
struct breakdown_band {
	enum breakdown_part breakdown_part;
	const char *column, *title, *colour;
};
extern const struct breakdown_band breakdown_bands[BREAKDOWN_PARTS];

struct breakdown_row {
	const struct cascade_node *node;
	struct breakdown breakdown;
};

struct breakdown_plot {
	const struct cascade *cascade;
	struct breakdown_row *rows; /* in drawing order */
	uint32_t count;
	bool bars;
	bool has[BREAKDOWN_PARTS]; /* at least one node spent time in it */
};

/* The first column of the table with a band; the first column is 1. */
enum { BREAKDOWN_BAND_COLUMN = 4 };

#endif
