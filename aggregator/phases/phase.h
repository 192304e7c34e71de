/*
 * phase - the events of one phase of one node (or run) and pair key, and how
 * they pair.
 *
 * The events are in the order of (time, ends first, stream, seq, index) and
 * pair by proto/record/pairing.h, so the order of arrival does not matter.
 *
 * The events are stored in rows.  The first row of a phase, node and key has
 * the key of `struct key_phase` alone; the key of each further one also has the
 * point from which on events are in it.  No pair is in two rows, so that an
 * event of any age changes a row, seldom its neighbours, and the statistics are
 * the sum over the rows.  With `fifo` an end is found in the row of its start
 * only, which has room for hundreds of events.
 *
 * proto/store.md, "Phases", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PHASE_H
#define AGGREGATOR_PHASES_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/row_block.h"
#include "proto/base/varint.h"
#include "proto/record/pairing.h"

enum {
	PHASE_ROW_EVENTS = 64, /* a row with more of them is split */
	PHASE_SPLIT = 48,      /* the events of its first part */
	/* No row has more.  One with `fifo` may have as many, because it is
	 * split where nothing is open. */
	PHASE_ROW_EVENTS_MAX = 1024,
	PHASE_ATTRIBUTES_BYTES_MAX = 2048, /* of one event, in a row */
	PHASE_KEY_BYTES_MAX = KEY_PHASE_BYTES + 9,
	PHASE_INSTANT = 512, /* starts, or ends, of one time: no more */
};

/* One event of a phase. */
struct phase_entry {
	struct row_block_item id; /* body: its attributes, as in a row block */
	uint32_t node;
	uint32_t partner; /* its index, or PAIRING_ALONE */
	bool is_end;
	bool measured;
	/* Duration of the phase according to its end event. */
	int64_t measured_ns;
};

/* The events of a row. */
struct phase_row {
	struct text key; /* value that pairs are matched by; a view */
	bool fifo;
	struct phase_entry *at;
	uint32_t count, room;
	struct pairing *pairing; /* private */
	uint32_t pairing_room;
};

void phase_row_clear(struct phase_row *row);
/* Make the row empty, but keep its memory. */
void phase_row_reset(struct phase_row *row, struct text key, bool fifo);
/* The decoded row is a view of `value`, and paired. */
bool phase_row_decode(struct phase_row *row, struct text value, uint32_t scope);

enum phase_taken { PHASE_TAKEN, PHASE_REPEATED, PHASE_OVERFLOW };
/* Insert an event in its place.  The row is not paired afterwards. */
enum phase_taken phase_row_insert(
    struct phase_row *row, const struct phase_entry *entry);
/* In the order of a row: < 0, 0 or > 0. */
int phase_compare(const struct phase_entry *a, const struct phase_entry *b);

/* Set `partner` of `count` events from `first` on: an index from `first`. */
void phase_row_pair(struct phase_row *row, uint32_t first, uint32_t count);
/* Append the events of a later row of the same phase, node and key. */
void phase_row_append(struct phase_row *row, const struct phase_row *later);
/* Does a pair cross the border between two paired rows that follow each
 * other?  Then they must become one. */
bool phase_row_is_crossed(
    const struct phase_row *row, const struct phase_row *later);

/* The duration of a pair: as measured, or end - start; saturates at the limits
 * of int64. */
int64_t phase_duration(
    const struct phase_entry *start, const struct phase_entry *end);

/* What paired events add to statistics. */
struct phase_sum {
	int64_t *duration; /* of the pairs, in the order of their ends */
	uint32_t pairs, room;
	uint64_t open_starts, open_ends;
};
void phase_sum_reset(struct phase_sum *sum);
void phase_sum_add(
    struct phase_sum *sum, const struct phase_entry *at, uint32_t count);
/* Replace what `before` adds to the statistics by what `after` adds. */
void phase_sum_replace(struct duration_stats *stats,
    const struct phase_sum *before, const struct phase_sum *after);
void phase_row_sum(const struct phase_row *row, struct duration_stats *stats);

/* ---- rows ---- */

/* Where a row begins.  Ends of that time belong to the row before it if
 * `starts` is set. */
struct phase_point {
	int64_t time_ns;
	bool starts;
};

/* The number of events from `first` on that belong into one row; they are
 * paired, to the last one. */
uint32_t phase_row_split(const struct phase_row *row, uint32_t first);
void phase_row_encode(const struct phase_row *row, uint32_t first,
    uint32_t count, uint32_t scope, struct buffer *to);
/* The key of the row that begins with event `first`, which is not the first of
 * all. */
struct text phase_row_key(unsigned char key[static PHASE_KEY_BYTES_MAX],
    const struct key_phase *phase, const struct phase_row *row, uint32_t first);

/* The phase, node and key of a row; false: this is not the key of one. */
bool phase_row_get_key(struct text key, struct key_phase *phase);

/* The point at which an event is. */
struct phase_point phase_point_of(const struct phase_entry *entry);

/* Find the row that an event at this point belongs to; false: there is none, it
 * begins a new first row. */
bool phase_row_find(struct db_cursor *cursor, const struct key_phase *phase,
    struct phase_point point, struct text *key, struct text *value);
/* Move to the row before or after a row of the same phase, node and key, which
 * need not exist; false: there is none. */
bool phase_row_before(
    struct db_cursor *cursor, struct text *key, struct text *value);
bool phase_row_after(
    struct db_cursor *cursor, struct text *key, struct text *value);
/* Does the event belong to the row with this key, or to one after it? */
bool phase_row_is_from(struct text key, const struct phase_entry *entry);

#endif
