/*
 * breakdown - divide a node's startup time between its phases.
 *
 * From nodeprep:start to cascade:gr-done every moment belongs to exactly one
 * band, so that the bands of a node add up to the time it took.  Where phases
 * overlap, the moment belongs to the later one of the enumeration: the pull of
 * an image before a concurrent download, the private registry before the rest
 * of the preparation.  Time outside of all phases is waiting.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_H
#define EXPORTERS_CASCADE_BREAKDOWN_H

#include "exporters/cascade/cascade.h"

enum breakdown_part {
	BREAKDOWN_WAIT,  /* between phases, mostly from preparation to start */
	BREAKDOWN_OTHER, /* loading of global resources, while no image is
			    pulled or loaded */
	BREAKDOWN_PREPARATION, /* preparation of the node, without the next two
				*/
	BREAKDOWN_HELPER,      /* pull of the helper image */
	BREAKDOWN_REGISTRY,    /* private registry */
	BREAKDOWN_TORRENT,
	BREAKDOWN_SAVE,
	BREAKDOWN_LOAD,
	BREAKDOWN_PULL,
	BREAKDOWN_PARTS,
};

struct breakdown {
	double seconds[BREAKDOWN_PARTS];
	double total; /* their sum: gr-done - nodeprep:start */
};

/* The node must be complete. */
struct breakdown breakdown_of(
    const struct cascade *cascade, const struct cascade_node *node);

#endif
