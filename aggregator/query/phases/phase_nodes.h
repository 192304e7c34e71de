/*
 * phase_nodes - the states of a phase summed up by node (or run).
 *
 * A node's states are spread over all keys of the phase.  So one walk sums up
 * as many nodes as a bounded room holds, and what does not fit the page waits
 * here for the next one.  Whatever room there is, and whether something waits
 * or not, the answers are the same.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PHASES_PHASE_NODES_H
#define AGGREGATOR_QUERY_PHASES_PHASE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/phase.h"
#include "aggregator/query/phases/phase_states.h"

enum {
	PHASE_NODES_STATES = 1 << 17,      /* at once, of 16 bytes */
	PHASE_NODES_SUM_BYTES = 512 << 10, /* and one sum */
};

struct phase_nodes {
	uint32_t partition, phase;
	uint32_t first, last;   /* of what numbers the sums are; 0: of none */
	struct buffer sums;     /* by number: number, encoded statistics */
	size_t given;           /* bytes of them; the last one: */
	size_t taken_at;        /* where it begins ... */
	uint32_t taken, before; /* ... its number, that of the one before */
	struct phase_nodes_state *states; /* while summing up */
	uint32_t count, room;             /* room 0: PHASE_NODES_STATES */
	size_t sum_room;                  /* 0: PHASE_NODES_SUM_BYTES */
	struct phase_state state;
	struct duration_stats *stats; /* the caller's */
};

/* Forget what waits: an answer begins, and must know all that is stored. */
void phase_nodes_forget(struct phase_nodes *phase_nodes);
void phase_nodes_clear(struct phase_nodes *phase_nodes);

/* The first node numbered `*number` or more and at most `last` that has states
 * of this phase: its number, its sum in nodes->stats.  False: none. */
bool phase_nodes_next(struct phase_nodes *phase_nodes, struct db_txn *txn,
    uint32_t partition, uint32_t phase, uint32_t *number, uint32_t last);

#endif
