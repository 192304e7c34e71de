/*
 * phase - the state of one phase of one node (or run) and key: its starts and
 * ends, and which belong together.
 *
 * The k-th start pairs with the k-th end, both in the order of (time, stream,
 * seq, index), so the order of arrival does not matter.  To be able to do that
 * the state keeps starts and ends as they are; beyond PHASE_PAIRS_MAX complete
 * pairs the oldest are compacted: written as rows of their own, and only their
 * sum (struct duration_stats) stays.  An event older than the compacted part
 * comes too late to be paired: it is counted.  What has no partner is bounded
 * too.
 *
 * The bytes are proto/store.md, "Phase states".
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
	PHASE_PAIRS_MAX = 64, /* raw in a state */
	PHASE_COMPACT = 32,   /* compacted at once */
	PHASE_OPEN_MAX = 256, /* starts, or ends, without a partner */
	PHASE_ATTRIBUTES_BYTES_MAX = 2048, /* of one event, kept in a state */
	KEY_COMPACTED_BYTES = KEY_PHASE_BYTES + 4,
};

/* One event of a phase. */
struct phase_entry {
	struct row_block_item id; /* body: its attributes, as in a head */
	uint32_t node;
	bool measured;
	int64_t measured_ns; /* how long the phase took, says the end event */
};

struct phase_side { /* starts or ends, in order */
	struct phase_entry *at;
	uint32_t count, room;
};

/* Up to which event a side is compacted: id without a body. */
struct phase_state {
	struct text key;    /* what pairs share; view */
	uint64_t compacted; /* pairs compacted ever: the next pair's k */
	struct row_block_item start_mark, end_mark;
	struct text sums; /* encoded stats of what is compacted, late and
			     overflow; empty: nothing; view */
	struct phase_side start, end;
};

/* Make room for `count` entries. */
void phase_side_room(struct phase_side *side, uint32_t count);

void phase_state_clear(struct phase_state *state);
/* An empty state, keeping the memory. */
void phase_state_reset(struct phase_state *state, struct text key);
/* The decoded state is a view of `value`. */
bool phase_state_decode(
    struct phase_state *state, struct text value, uint32_t scope);
void phase_state_encode(
    const struct phase_state *state, uint32_t scope, struct buffer *to);

uint32_t phase_pairs(const struct phase_state *state);
/* Duration of a pair: measured, or end - start, within int64. */
int64_t phase_duration(
    const struct phase_entry *start, const struct phase_entry *end);

/* Everything that belongs to the state, added to `stats`: compacted and raw
 * pairs, what is open, late, overflow. */
void phase_state_sum(
    const struct phase_state *state, struct duration_stats *stats);

enum phase_taken { PHASE_TAKEN, PHASE_REPEATED, PHASE_LATE, PHASE_OVERFLOW };
/* Put an event in its place and bring `stats`, the phase's, up to date.  For
 * PHASE_LATE and PHASE_OVERFLOW the caller counts (phase_state_count). */
enum phase_taken phase_take(struct phase_state *state, bool is_end,
    const struct phase_entry *entry, struct duration_stats *stats);

/* Must the oldest pairs be compacted?  Then how many. */
uint32_t phase_to_compact(const struct phase_state *state);

/* Take the first `pairs` off: indexer them into `sums` (decoded by the caller)
 * and set the marks.  The statistics of the phase do not change by it. */
void phase_compact(
    struct phase_state *state, uint32_t pairs, struct duration_stats *sums);

/* How many leading pairs, both events, were before `cut_ns`; when there are no
 * others: `*all` says whether everything raw was. */
uint32_t phase_old(const struct phase_state *state, int64_t cut_ns, bool *all);
/* Remove the first `pairs`, or everything raw, from the state and from
 * `stats`, the phase's: what is older than them is late from now on. */
void phase_trim(struct phase_state *state, uint32_t pairs, bool all,
    struct duration_stats *stats);

/* ---- compacted rows: key_phase and k of the first pair, big-endian ---- */

void phase_key_compacted(unsigned char key[static KEY_COMPACTED_BYTES],
    const struct key_phase *phase, uint64_t k);
/* A row of the pairs from `first` on, as many as stay in a page but at least
 * one and at most `pairs`; returns how many. */
uint32_t phase_put_compacted(const struct phase_state *state, uint32_t first,
    uint32_t pairs, uint32_t scope, struct buffer *to);

struct phase_compacted { /* where we are in a row */
	struct unpack bytes;
	uint64_t left;
	uint32_t scope;
};
bool phase_open_compacted(
    struct phase_compacted *compacted, struct text value, uint32_t scope);
bool phase_next_compacted(struct phase_compacted *compacted,
    struct phase_entry *start, struct phase_entry *end);

#endif
