/*
 * part_row - a row of a part: events of one phase, in the order of (hash of
 * the key, scope, time, ends first, stream, seq, index, node).
 *
 * A part is a sorted set of events.  Each transaction of the indexer writes one
 * for each phase, or adds its events to the newest one while that is small; the
 * writer merges the others.  Rows of small
 * parts are plain, because those are written at once and merged soon; rows of
 * large parts are columns (compacted_row.h).  The key of a row is the place of
 * its last event, so that a seek finds the row that has a place.
 * proto/store.md, "Phases", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PART_ROW_H
#define AGGREGATOR_PHASES_PART_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/phase.h"
#include "aggregator/rows/compacted_row.h"

enum {
	PART_ROW_KEY_BYTES = 37,
	/* Exceeded by one event; with a usual one the row fits two pages. */
	PART_ROW_PLAIN_BYTES = 8000,
	PART_ROW_COLUMNS = 2048,          /* events in a row of columns */
	PART_ROW_COLUMNS_BYTES = 1 << 20, /* of their attributes */
};

/* ---- keys ---- */

struct part_row_key {
	uint32_t partition, phase;
	uint32_t part; /* 1, 2, 3 ...; 0 is the directory of the phase */
	uint64_t key_hash;
	uint32_t scope;
	int64_t time_ns;
	bool is_start;
	uint32_t row; /* of the part: 0, 1, 2 ... */
};
struct text part_row_put_key(unsigned char to[static PART_ROW_KEY_BYTES],
    const struct part_row_key *key);
bool part_row_get_key(struct text from, struct part_row_key *key);

/* ---- writing ---- */

/* An event and its state. */
struct part_row_item {
	uint64_t key_hash;
	uint32_t scope;
	struct text key;
	struct phase_entry entry;
};

/* Append a plain row with the first of the items; returns how many. */
uint32_t part_row_put_plain(
    struct buffer *to, const struct part_row_item *items, uint32_t count);
/* Append a row of columns with all items, at most PART_ROW_COLUMNS. */
void part_row_put_columns(struct buffer *to,
    struct compacted_row_writer *writer, const struct part_row_item *items,
    uint32_t count);

/* ---- reading ---- */

/* The events of one key and scope. */
struct part_row_state {
	uint64_t key_hash;
	uint32_t scope;
	struct text key;
	uint32_t from, to; /* indexes of events */
};

/* A row being read.  Zero it before the first use. */
struct part_row {
	struct part_row_state *state;
	uint32_t states, state_room;
	struct phase_entry *at;
	uint32_t count, room;
	bool is_complete; /* bodies, nodes and durations were read */
	struct buffer bytes;
	struct compacted_row_rows columns;
};
void part_row_clear(struct part_row *row);
/* Views of a copy of `value`.  The events have no bodies, nodes and measured
 * durations before part_row_complete.  False: the row is damaged. */
bool part_row_open(struct part_row *row, struct text value);
bool part_row_complete(struct part_row *row);

#endif
