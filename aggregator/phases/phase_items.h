/*
 * phase_items - the phases of a phase's events: pairs, and starts and ends
 * that are alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PHASE_ITEMS_H
#define AGGREGATOR_PHASES_PHASE_ITEMS_H

#include "proto/record/pairing.h"
#include "aggregator/phases/part_cursor.h"

struct phase_items_event; /* opaque */

/* Zero it before the first use. */
struct phase_items {
	struct part_cursor *cursor;
	struct pairer pairer;
	/* Events that are not given yet: a part of the state. */
	struct phase_items_event *at;
	uint32_t first, count, room;
	uint64_t number;  /* of the first of them; the state begins with 0 */
	uint32_t instant; /* events of the last time, not yet paired */
	bool ended;
	bool given; /* the first one was */
};
void phase_items_clear(struct phase_items *items);

/* Read the current state of the cursor. */
void phase_items_begin(struct phase_items *items, struct part_cursor *cursor);
/* The next one in the order of its first event: a pair, a start (`*end` is
 * NULL) or an end (`*start` is NULL).  Views, valid until the next call.  False
 * at the end of the state. */
bool phase_items_next(struct phase_items *items,
    const struct phase_entry **start, const struct phase_entry **end);

#endif
