/*
 * cascade_distribution - how long the phases of the startup took: a row for
 * each phase (exporters/gnuplot/boxes.h) of the complete nodes, an image that a
 * node pulled twice counted once, as in poolscope-stats cascade.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_DISTRIBUTION_H
#define EXPORTERS_CASCADE_DISTRIBUTION_H

#include "exporters/cascade/cascade.h"
#include "exporters/gnuplot/boxes.h"

struct cascade_distribution {
	struct boxes boxes; /* clear it at the end */
	char title[256];
};

/* There must be at least one complete node. */
void cascade_distribution_init(struct cascade_distribution *distribution,
    const struct cascade *cascade, struct text pool);

#endif
