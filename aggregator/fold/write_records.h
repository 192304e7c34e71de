/*
 * write_records - writes what was gathered into the tables, in the order of the
 * keys. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_FOLD_WRITE_RECORDS_H
#define AGGREGATOR_FOLD_WRITE_RECORDS_H

#include <stdint.h>

#include "aggregator/fold/collect.h"
#include "aggregator/phases/run_sum.h"

/* A sender makes up their names, and no retention takes them away. */
enum { STORE_ENTITIES_MAX = 10000000 };

struct store {
	struct head_row row;
	struct phase_state state;
	struct buffer value;    /* the row being made */
	struct buffer sums;     /* encoded sums of the state */
	struct buffer sealed;   /* rows of sealed pairs, until they are put */
	struct stats *stats;    /* of the phase at hand */
	struct stats *of_state; /* sums of the state at hand */
	struct run_row *run, *other_run; /* at hand, and being summed up */
	struct run_changes changes;      /* of the statistics of runs, */
	struct groups rows;              /* by the row that they are of, */
	struct run_changes line;         /* and those of one row */
	uint64_t pages, bytes;   /* changed and put by this transaction */
	const char *put, *found; /* the state before, in memory */
	uint64_t late, unkept;
	uint64_t entities_max;  /* of a partition: STORE_ENTITIES_MAX */
	uint64_t entities_over; /* new ones beyond it, which are not kept */
	bool said_groups;       /* that there are too many */
};

void store_init(struct store *store);
void store_clear(struct store *store);

/* Records into heads.  Takes row numbers from the store's counter. */
void store_heads(
    struct store *store, struct db_txn *txn, struct gather *gather);
/* Entities, merged; those that are there can always be told more of.  `again`:
 * they come in any order, and may have been merged before; of two that name one
 * property the one that was received later has it, unless something else was
 * received in between and stored in a call before this one. */
void store_entities(
    struct store *store, struct db_txn *txn, struct gather *gather, bool again);
/* Events into the states of phases, and those into statistics. */
void store_phases(
    struct store *store, struct db_txn *txn, struct gather *gather);
/* Events and entities of runs into rows, and those into statistics. */
void store_runs(struct store *store, struct db_txn *txn, struct gather *gather);
/* Put store->changes, of one model in a partition, into its groups. */
void store_run_changes(
    struct store *store, struct db_txn *txn, const struct run_form *form);
/* Sum up all runs of the group and step of `of`: the long way to the same. */
void store_sum_runs(struct store *store, struct db_txn *txn,
    const struct run_form *form, const struct run_change *of,
    struct stats *stats);
/* What each partition holds now. */
void store_counts(struct db_txn *txn, const struct gather *gather);

/* ---- statistics of a phase, also for retention and verification ---- */

/* The row of (partition, phase); empty when there is none. */
void store_get_stats(struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct stats *stats);
void store_put_stats(struct store *store, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct stats *stats);
/* Sum up all states of the phase: the long way to the same result. */
void store_sum_states(struct store *store, struct db_txn *txn,
    uint32_t partition, uint32_t phase, struct stats *stats);

#endif
