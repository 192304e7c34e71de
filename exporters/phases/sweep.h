/*
 * phases_sweep - in which phase a node was at each moment.
 *
 * Every moment belongs to one phase: of several the one that began last, which
 * for phases inside others is the innermost; of phases that began at once the
 * shortest, then the one that is later in the model.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_SWEEP_H
#define EXPORTERS_PHASES_SWEEP_H

#include "exporters/phases/read.h"

/* The items of the node of items[first], in their order: the end of them. */
uint32_t phases_share_end(const struct phases_read *phases, uint32_t first);

/* The pieces of the items [first, end) of a node, by time and without gaps
 * between them: `item` is that of the phase, NULL between phases.  `stack` has
 * room for each item.  Returns the end of the last piece. */
int64_t phases_sweep(const struct phases_read *phases, uint32_t first,
    uint32_t end, const struct phases_item **stack,
    void (*on_piece)(void *arg, const struct phases_item *item, int64_t from_ns,
	int64_t to_ns),
    void *arg);

#endif
