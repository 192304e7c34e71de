/*
 * breakdown - where each moment of a node's start-up went.
 *
 * From nodeprep:start to cascade:gr-done every moment belongs to exactly one
 * band, so that the bands of a node add up to the time it took.  Where phases
 * overlap the later one in the enumeration has the moment: the pull of an
 * image counts before a download that runs beside it, the private registry
 * before the rest of the preparation.  What no phase covers is waiting.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_BREAKDOWN_H
#define EXPORTERS_CASCADE_BREAKDOWN_H

#include "exporters/cascade/cascade.h"

enum breakdown_part {
	BREAKDOWN_WAIT,  /* between phases, mostly preparation to start */
	BREAKDOWN_OTHER, /* of the global resources, but no image at work */
	BREAKDOWN_PREPARATION, /* of the node, without the next two */
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

/* Of a node of which nothing is missing. */
struct breakdown breakdown_of(
    const struct cascade *cascade, const struct cascade_node *node);

#endif
