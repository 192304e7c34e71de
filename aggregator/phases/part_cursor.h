/*
 * part_cursor - the events of a phase, of all its parts, in order.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PART_CURSOR_H
#define AGGREGATOR_PHASES_PART_CURSOR_H

#include "aggregator/phases/part_list.h"
#include "aggregator/phases/part_row.h"

enum { PART_CURSOR_KEY_BYTES = 255 }; /* of a value that pairs are matched by */

/* A part being read. */
struct part_cursor_input {
	uint32_t part;
	int64_t least_ns, most_ns; /* of its events */
	struct db_cursor *rows;
	struct part_row row;
	uint32_t number; /* of the row in the part */
	uint32_t state;  /* the current one of the row, */
	uint32_t at, to; /* its events that are left */
	bool more;       /* there is a current state */
	bool used;       /* it is that of the cursor */
	bool waits;      /* its events are looked for when their time comes */
};

/* Zero it before the first use. */
struct part_cursor {
	struct part_list list;
	struct part_cursor_input *input;
	uint32_t count, room;
	bool completes; /* events have nodes, durations and bodies */
	/* The current state. */
	uint64_t key_hash;
	uint32_t scope;
	struct text key; /* in `key_room` */
	char key_room[PART_CURSOR_KEY_BYTES];
	struct part_cursor_input *given;
};

/* Open all parts of the phase; seek before anything else.  False: it has
 * none. */
bool part_cursor_open(struct part_cursor *cursor, struct db_txn *txn,
    uint32_t partition, uint32_t phase, bool completes);
/* The same with these parts only, in the order of their numbers. */
bool part_cursor_open_some(struct part_cursor *cursor, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct part_info *parts,
    uint32_t count);
/* Before the transaction ends; keeps memory for the next phase. */
void part_cursor_close(struct part_cursor *cursor);
void part_cursor_clear(struct part_cursor *cursor);

/* Move to the first state from (key_hash, scope) on.  If it is this state,
 * only its events from `from_ns` on are left. */
void part_cursor_seek(struct part_cursor *cursor, uint64_t key_hash,
    uint32_t scope, int64_t from_ns);
/* Enter this state, with the events from `from_ns` on, and those before as far
 * as the rows have them that were read anyway.  Of the parts that end before
 * `from_ns`, only the `nearest` newest are read.  Returns the time up to which
 * (inclusive) events may be missing; INT64_MIN: all are there. */
int64_t part_cursor_seek_before(struct part_cursor *cursor, uint64_t key_hash,
    uint32_t scope, int64_t from_ns, uint32_t nearest);

/* Enter the next state, which is then the current one; the one before it need
 * not be read to its end.  False: there is none. */
bool part_cursor_state(struct part_cursor *cursor);
/* The next event of the current state: a view, valid until the next call of any
 * of these functions.  NULL: there is none. */
const struct phase_entry *part_cursor_entry(struct part_cursor *cursor);
/* Read also the node, the duration and the body of that event.  False: they are
 * damaged. */
bool part_cursor_complete(struct part_cursor *cursor);

#endif
