/*
 * cascade_breakdown_rows - what phases_plot and its script share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_ROWS_H
#define EXPORTERS_CASCADE_BREAKDOWN_ROWS_H

#include "exporters/cascade/breakdown_plot.h"

/* The bands from the bottom up, in the order in which they mostly happen. */
struct phases_band {
	enum band band;
	const char *column, *title, *colour;
};
extern const struct phases_band phases_bands[BANDS];

struct phases_row {
	const struct cascade_node *node;
	struct bands bands;
};

struct phases_plot {
	const struct cascade *cascade;
	struct phases_row *rows; /* as they are drawn */
	uint32_t count;
	bool bars;
	bool has[BANDS]; /* some node spent time there */
};

/* The first column of the table that is a band, from 1. */
enum { PHASES_BAND_COLUMN = 4 };

#endif
