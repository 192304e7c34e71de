/*
 * phase_nodes - the events of a phase, summed by node (or run).
 *
 * The states of a node are spread over all keys of the phase.  One walk
 * therefore sums as many nodes as its memory allows, and sums that do not fit
 * in the page are cached here for the next one.  The size of the memory and
 * the cache do not affect the results.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PHASES_PHASE_NODES_H
#define AGGREGATOR_QUERY_PHASES_PHASE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/phase_items.h"

enum {
	PHASE_NODES_ITEMS = 1 << 17, /* collected by one walk, 16 bytes each */
	PHASE_NODES_SUM_BYTES = 512
				<< 10, /* of cached sums, exceeded by one sum */
};

struct phase_nodes {
	uint32_t partition, phase;
	uint32_t first, last;   /* numbers that the sums cover; 0: none */
	struct buffer sums;     /* in order: number, encoded statistics */
	size_t given;           /* bytes taken from `sums` */
	size_t taken_at;        /* start of the last sum taken */
	uint32_t taken, before; /* its number, and that of the one before */
	struct phase_nodes_item *items; /* during a walk */
	uint32_t count, room;           /* room 0: PHASE_NODES_ITEMS */
	size_t sum_room;                /* 0: PHASE_NODES_SUM_BYTES */
	struct part_cursor parts;
	struct phase_items phase_items;
	struct duration_stats *stats; /* owned by the caller */
};

/* Drop the cached sums: the first page of an answer must reflect the current
 * store. */
void phase_nodes_forget(struct phase_nodes *phase_nodes);
void phase_nodes_clear(struct phase_nodes *phase_nodes);

/* Find the first node numbered from `*number` to `last` that has events of
 * this phase. Returns its number in `*number` and its sum in
 * phase_nodes->stats; false: none. */
bool phase_nodes_next(struct phase_nodes *phase_nodes, struct db_txn *txn,
    uint32_t partition, uint32_t phase, uint32_t *number, uint32_t last);

#endif
