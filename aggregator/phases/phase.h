/*
 * phase - the events of phases, and what they add to statistics.
 *
 * The events of one phase, key and scope (node or run) are a state.  In the
 * order of (time, ends first, stream, seq, index, node) they pair by
 * proto/record/pairing.h, so the order of arrival does not matter.  They are
 * stored in parts (part_row.h), and a state is what all parts have of it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PHASE_H
#define AGGREGATOR_PHASES_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/phases/duration_stats.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/row_block.h"

enum {
	PHASE_ATTRIBUTES_BYTES_MAX = 2048, /* of one event */
	PHASE_INSTANT = 512, /* starts, or ends, of one time: no more */
};

/* One event of a phase. */
struct phase_entry {
	struct row_block_item id; /* body: its attributes, as in a row block */
	uint32_t node;
	bool is_end;
	bool measured;
	/* Duration of the phase according to its end event. */
	int64_t measured_ns;
};

/* In the order of a state: < 0, 0 or > 0. */
int phase_compare(const struct phase_entry *a, const struct phase_entry *b);
/* The same without the nodes, which matter only in a run: imports may name one
 * identity for two nodes. */
int phase_compare_ids(const struct phase_entry *a, const struct phase_entry *b);

/* The duration of a pair, by poolscope-model(5), "measured": what its end event
 * says, else end - start.  Nobody else decides that: records of phases
 * (proto/record/record.h) carry it. */
int64_t phase_duration(int64_t start_ns, const struct phase_entry *end);

/* What events add to statistics. */
struct phase_sum {
	int64_t *duration; /* of the pairs, in the order of their ends */
	uint32_t pairs, room;
	uint64_t open_starts, open_ends; /* modulo 2^64 */
};
void phase_sum_clear(struct phase_sum *sum);
void phase_sum_reset(struct phase_sum *sum);
void phase_sum_pair(struct phase_sum *sum, int64_t duration);
/* Replace what `before` adds to the statistics by what `after` adds. */
void phase_sum_replace(struct duration_stats *stats,
    const struct phase_sum *before, const struct phase_sum *after);

#endif
