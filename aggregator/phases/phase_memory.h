/*
 * phase_memory - what the indexer remembers of keys and nodes (or runs): the
 * time of the last event, and the starts that wait for their end.
 *
 * With it an event that comes in the order of time changes the statistics
 * without a look at the store.  Everything in it is in the parts, too: it is
 * forgotten when it has become too much, after a transaction that was aborted,
 * and at a restart.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PHASE_MEMORY_H
#define AGGREGATOR_PHASES_PHASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/record/pairing.h"
#include "aggregator/tables/key.h"

/* Of states in each of two halves: those used lately, and those before. */
enum { PHASE_MEMORY_STATES = 256 << 10 };

enum { PHASE_MEMORY_LINE = 64 }; /* bytes of a cache line */

struct phase_state {
	/* partition 0: an empty slot */
	_Alignas(PHASE_MEMORY_LINE) struct key_phase key;
	int64_t last_ns;     /* INT64_MIN: there is no event */
	int64_t start_ns;    /* of the only start that waits */
	bool waits;          /* `start_ns` is one */
	struct pairer *more; /* with fifo, of all of them; NULL: none */
};

/* Zero it before the first use. */
struct phase_memory {
	struct phase_memory_half {
		struct phase_state *slot; /* each in a cache line of its own */
		void *memory;
		uint32_t used;
	} young, old;
	uint32_t states_max; /* 0: PHASE_MEMORY_STATES; tests use less */
	size_t queued;       /* starts in `more`; bounded like the states */
};
void phase_memory_forget(struct phase_memory *memory);

/* The state will be looked for soon: the CPU fetches it meanwhile. */
void phase_memory_prefetch(
    const struct phase_memory *memory, const struct key_phase *key);
/* NULL: not known.  The pointer is valid until the next call. */
struct phase_state *phase_memory_find(
    struct phase_memory *memory, const struct key_phase *key);
/* Add a state that is not there, without an event. */
struct phase_state *phase_memory_add(
    struct phase_memory *memory, const struct key_phase *key);

/* What waits, as a pairer; and back. */
void phase_state_get(const struct phase_state *state, struct pairer *pairer);
void phase_state_put(struct phase_memory *memory, struct phase_state *state,
    const struct pairer *pairer, bool fifo);

#endif
