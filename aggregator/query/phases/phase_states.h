/*
 * phase_states - a walk over the rows of one phase, of all nodes or of some.
 *
 * Rows are ordered by key and then by node (or run), so those of a few
 * nodes are a short range within each key.  The walk seeks from range to
 * range, and reads row by row where a seek would cost more.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PHASES_PHASE_STATES_H
#define AGGREGATOR_QUERY_PHASES_PHASE_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/phases/phase.h"

struct phase_states {
	struct key_phase at; /* key of the current row */
	/* Its value: a view, valid until the transaction ends. */
	struct text value;
	/* The caller may narrow this range during the walk. */
	uint32_t scope_first, scope_last;
	/* private */
	struct db_cursor *cursor;
	/* Consecutive rows of this key that were not selected. */
	uint32_t skipped;
};

/* Find the first phase of the partition, from `*phase` on, that has rows;
 * false: none. */
bool phase_states_find_phase(
    struct db_cursor *cursor, uint32_t partition, uint32_t *phase);

/* Find the first row at or after `from`, of its phase, whose scope is in the
 * range; then the next one.  With `event` not NULL: begin with the row of this
 * event, if it is there.  False: none. */
bool phase_states_begin(struct phase_states *phase_states,
    struct db_cursor *cursor, const struct key_phase *from,
    const struct phase_entry *event, uint32_t scope_first, uint32_t scope_last);
bool phase_states_next(struct phase_states *phase_states);

#endif
