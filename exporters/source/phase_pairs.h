/*
 * phase_pairs - pair the events of phases that pass from node to node, in the
 * order of the times that are shown.
 *
 * The aggregator pairs events by the clocks of their nodes.  Where these
 * differ, an end may come before its start, or belong to another start.
 * Therefore the source asks for the events of such phases as lone starts and
 * ends (WIRE_FLAG_UNPAIRED), corrects their times, and pairs them here.  The
 * events of one phase, key and run follow each other and make a group.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_PHASE_PAIRS_H
#define EXPORTERS_SOURCE_PHASE_PAIRS_H

#include "exporters/source/clock_view.h"
#include "proto/base/buffer.h"
#include "proto/record/pairing.h"
#include "proto/record/record.h"

/* A group ends when it has as many; what would pair across is alone. */
enum {
	PHASE_PAIRS_EVENTS_MAX = 16 << 10,
	PHASE_PAIRS_BYTES_MAX = 16 << 20, /* of texts and attributes */
};

struct phase_pairs_event; /* opaque */

/* Zeroed it is empty and ready. */
struct phase_pairs {
	struct phase_pairs_event *at;
	uint32_t count, room;
	size_t bytes;
	uint32_t next; /* of the paired events */
	bool paired;
	struct buffer attributes; /* of the last pair */
};

void phase_pairs_clear(struct phase_pairs *pairs);
/* Forget the events, but keep the memory. */
void phase_pairs_reset(struct phase_pairs *pairs);

/* Is the group empty, or may this event still become a part of it? */
bool phase_pairs_fits(
    const struct phase_pairs *pairs, const struct record *record);
/* Copy an event whose time was corrected, and how it was. */
void phase_pairs_add(struct phase_pairs *pairs, const struct record *record,
    const struct source_correction *clock);

/* Pair the events.  False: there are none. */
bool phase_pairs_end(struct phase_pairs *pairs);
/* The next pair or event without a partner of a paired group; a view, valid
 * until the next call.  False: there is none, and the group is empty. */
bool phase_pairs_next(struct phase_pairs *pairs, struct record *record,
    struct source_correction *clock);

#endif
