/*
 * phase - the state of one phase of one node (or run) and pair key: its starts
 * and ends, and how they pair.
 *
 * The k-th start pairs with the k-th end, both in the order of (time, stream,
 * seq, index), so the order of arrival does not matter.  Therefore the state
 * stores starts and ends unpaired.  Beyond PHASE_PAIRS_MAX complete pairs the
 * oldest ones are compacted: their events move to rows of their own, and the
 * state has only their sum (struct duration_stats).  An event older than the
 * compacted pairs is too late to be paired and is only counted.  The number of
 * events without a partner is limited too.
 *
 * proto/store.md, "Phase states", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PHASE_H
#define AGGREGATOR_PHASES_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/key.h"
#include "proto/base/varint.h"

enum {
	PHASE_PAIRS_MAX = 64, /* not compacted, in a state */
	PHASE_COMPACT = 32,   /* compacted together */
	PHASE_OPEN_MAX = 256, /* starts, or ends, without a partner */
	PHASE_ATTRIBUTES_BYTES_MAX = 2048, /* of one event, in a state */
	PHASE_KEY_COMPACTED_BYTES = KEY_PHASE_BYTES + 4,
};

/* One event of a phase. */
struct phase_entry {
	struct row_block_item id; /* body: its attributes, as in a row block */
	uint32_t node;
	bool measured;
	/* Duration of the phase according to its end event. */
	int64_t measured_ns;
};

struct phase_side { /* starts or ends, in order */
	struct phase_entry *at;
	uint32_t count, room;
};

/* The last compacted event of either side: its id without a body. */
struct phase_state {
	struct text key;    /* value that pairs are matched by; a view */
	uint64_t compacted; /* pairs ever compacted: the k of the next pair */
	struct row_block_item start_mark, end_mark;
	struct text sums; /* encoded statistics of the compacted pairs, with
			     late and overflow; may be empty; a view */
	struct phase_side start, end;
};

/* Make room for `count` entries. */
void phase_side_room(struct phase_side *side, uint32_t count);

void phase_state_clear(struct phase_state *state);
/* Make the state empty, but keep its memory. */
void phase_state_reset(struct phase_state *state, struct text key);
/* The decoded state is a view of `value`. */
bool phase_state_decode(
    struct phase_state *state, struct text value, uint32_t scope);
void phase_state_encode(
    const struct phase_state *state, uint32_t scope, struct buffer *to);

uint32_t phase_pairs(const struct phase_state *state);
/* The duration of a pair: as measured, or end - start; saturates at the limits
 * of int64. */
int64_t phase_duration(
    const struct phase_entry *start, const struct phase_entry *end);

/* Add all of the state to `stats`: compacted and other pairs, events without a
 * partner, late, overflow. */
void phase_state_sum(
    const struct phase_state *state, struct duration_stats *stats);

enum phase_taken { PHASE_TAKEN, PHASE_REPEATED, PHASE_LATE, PHASE_OVERFLOW };
/* Add an event to the state, and update `stats`, those of the phase.  When it
 * returns PHASE_LATE or PHASE_OVERFLOW, the caller counts the event
 * (phase_state_count). */
enum phase_taken phase_take(struct phase_state *state, bool is_end,
    const struct phase_entry *entry, struct duration_stats *stats);

/* The number of pairs to compact now; 0: none. */
uint32_t phase_to_compact(const struct phase_state *state);

/* Remove the first `pairs` from the state, add them to `sums` (which the
 * caller has decoded) and set the last compacted events.  The statistics of
 * the phase stay the same. */
void phase_compact(
    struct phase_state *state, uint32_t pairs, struct duration_stats *sums);

/* The number of leading pairs with both events before `cut_ns`.  If there are
 * no other pairs, `*all` says whether the events without a partner were before
 * it too. */
uint32_t phase_old(const struct phase_state *state, int64_t cut_ns, bool *all);
/* Remove the first `pairs`, or all events, from the state and from `stats`,
 * those of the phase.  Events older than these are late from now on. */
void phase_trim(struct phase_state *state, uint32_t pairs, bool all,
    struct duration_stats *stats);

/* ---- rows of compacted pairs ---- */

/* The key: key_phase, then k of the first pair, big-endian. */
void phase_key_compacted(unsigned char key[static PHASE_KEY_COMPACTED_BYTES],
    const struct key_phase *phase, uint64_t k);
/* Encode a row of the pairs from `first` on: as many as fit in a page, at
 * least one and at most `pairs`.  Returns how many. */
uint32_t phase_put_compacted(const struct phase_state *state, uint32_t first,
    uint32_t pairs, uint32_t scope, struct buffer *to);

struct phase_compacted { /* the position in a row */
	struct varint_reader bytes;
	uint64_t left;
	uint32_t scope;
};
bool phase_open_compacted(
    struct phase_compacted *compacted, struct text value, uint32_t scope);
bool phase_next_compacted(struct phase_compacted *compacted,
    struct phase_entry *start, struct phase_entry *end);

#endif
