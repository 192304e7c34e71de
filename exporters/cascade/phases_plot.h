/*
 * phases_plot - where the time of the nodes of a cascade went: a bar for each
 * node.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PHASES_PLOT_H
#define EXPORTERS_CASCADE_PHASES_PLOT_H

#include "exporters/cascade/cascade.h"
#include "exporters/gnuplot/bands.h"

/*
 * Divide a node's startup time between its phases.
 *
 * From nodeprep:start to cascade:gr-done every moment belongs to exactly one
 * band, so that the bands of a node add up to the time it took.  Where phases
 * overlap, the moment belongs to the later one of the enumeration: the pull of
 * an image before a concurrent download, the private registry before the rest
 * of the preparation.  Time outside of all phases is waiting.
 */

enum phases_part {
	PHASES_WAIT,  /* between phases, mostly from preparation to start */
	PHASES_OTHER, /* loading of global resources, while no image is pulled
			 or loaded */
	PHASES_PREPARATION, /* of the node, without the next two */
	PHASES_HELPER,      /* pull of the helper image */
	PHASES_REGISTRY,    /* private registry */
	PHASES_TORRENT,
	PHASES_SAVE,
	PHASES_LOAD,
	PHASES_PULL,
	PHASES_PARTS,
};

struct phases_times {
	double seconds[PHASES_PARTS];
	double total; /* their sum: gr-done - nodeprep:start */
};

/* The node must be complete. */
struct phases_times phases_times_of(
    const struct cascade *cascade, const struct cascade_node *node);

enum { PHASES_TITLE_BYTES = 4096 };

struct phases_plot {
	struct bands bands;
	char title[PHASES_TITLE_BYTES], note[SOURCE_CLOCK_WORDS + 16];
};

/* Returns a new picture; there must be at least one complete node. */
struct phases_plot *phases_plot_new(
    const struct cascade *cascade, struct text pool);
void phases_plot_free(struct phases_plot **plot);

#endif
