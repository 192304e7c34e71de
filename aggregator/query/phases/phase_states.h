/*
 * phase_states - a walk over the states of one phase, of all nodes or of some.
 *
 * States lie by key and then by node (or run), so what is wanted of a few nodes
 * is a short piece of every key: the walk leaps from piece to piece, and steps
 * where a leap would cost more.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PHASES_PHASE_STATES_H
#define AGGREGATOR_QUERY_PHASES_PHASE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"

struct phase_states {
	struct key_phase at; /* the state at hand ... */
	struct text value;   /* ... view, valid until the transaction's end */
	/* May be narrowed while walking. */
	uint32_t scope_first, scope_last;
	/* private */
	struct db_cursor *cursor;
	uint32_t passed; /* rows of this key, one after another, unwanted */
};

/* The first phase of the partition from `*phase` on that has states; false:
 * there is none. */
bool phase_states_find_phase(
    struct db_cursor *cursor, uint32_t partition, uint32_t *phase);

/* The first state of `from`'s phase that is not before `from` and whose scope
 * is wanted; then the next.  False: none. */
bool phase_states_begin(struct phase_states *phase_states,
    struct db_cursor *cursor, const struct key_phase *from,
    uint32_t scope_first, uint32_t scope_last);
bool phase_states_next(struct phase_states *phase_states);

#endif
