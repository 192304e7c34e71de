/*
 * phase_write - the parts of write_phases.c: events that come late or whose
 * state is not in memory (phase_late.c), the part that a transaction writes
 * (phase_part.c), and phases without a model (phase_own.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_PHASE_WRITE_H
#define AGGREGATOR_INDEXER_PHASE_WRITE_H

#include "aggregator/indexer/write_records.h"

/* The phase that is being written. */
struct phase_write {
	struct indexer_write *indexer_write;
	struct db_txn *txn;
	struct part_list list;
	bool is_open; /* indexer_write->parts reads it */
};

/* Find out what the store has of a state that is not in memory, as far as the
 * items from `from` on need it. */
struct phase_state *phase_write_recall(
    struct phase_write *write, const struct key_phase *key, uint32_t from);

/* Take the items from `from` on, of one state, of which some come late. */
void phase_write_late(
    struct phase_write *write, struct phase_state *state, uint32_t from);

/* Write the items as a part, or add them to the newest one, if that is small.
 */
void phase_write_part(struct phase_write *write);

/* Add the roles in phases without a model to their states.  When a phase gets
 * another key, its stored events are taken again. */
void phase_write_own(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect);

#endif
