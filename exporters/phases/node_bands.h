/*
 * node_bands - what each node did, as bands: the time in each phase.
 *
 * A node's time is that from the begin of its first phase to the end of its
 * last.  Every moment belongs to one band, by phases_sweep; outside of phases
 * the node waits.
 *
 * The phases in which the nodes spent most have a band each, in the order of
 * the model; the rest share one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_NODE_BANDS_H
#define EXPORTERS_PHASES_NODE_BANDS_H

#include "exporters/plot/bands.h"
#include "exporters/phases/read.h"

enum { NODE_BANDS_NAMED = 10 };

/* Fill bands and rows; `phases` must have at least one, and outlive the bands.
 * Free bands->rows. */
void node_bands_make(struct bands *bands, const struct phases_names *names,
    const struct phases_read *phases);

#endif
