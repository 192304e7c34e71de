/*
 * phases - divide a node's startup time between its phases.
 *
 * From nodeprep:start to cascade:gr-done every moment belongs to exactly one
 * band, so that the bands of a node add up to the time it took.  Where phases
 * overlap, the moment belongs to the later one of the enumeration: the pull of
 * an image before a concurrent download, the private registry before the rest
 * of the preparation.  Time outside of all phases is waiting.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PHASES_H
#define EXPORTERS_CASCADE_PHASES_H

#include "exporters/cascade/cascade.h"

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

#endif
