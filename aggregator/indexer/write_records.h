/*
 * write_records - writes what was gathered into the tables, in the order of the
 * keys. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_WRITE_RECORDS_H
#define AGGREGATOR_INDEXER_WRITE_RECORDS_H

#include <stdint.h>

#include "aggregator/indexer/collect.h"
#include "aggregator/phases/run_sum.h"

/* A sender makes up their names, and no retention takes them away. */
enum { INDEXER_WRITE_ENTITIES_MAX = 10000000 };

struct indexer_write {
	struct row_block_row row;
	struct phase_state state;
	struct buffer value; /* the row being made */
	struct buffer sums;  /* encoded sums of the state */
	struct buffer
	    compacted; /* rows of compacted pairs, until they are put */
	struct duration_stats *stats;    /* of the phase at hand */
	struct duration_stats *of_state; /* sums of the state at hand */
	struct run_row *run, *other_run; /* at hand, and being summed up */
	struct run_changes changes;      /* of the statistics of runs, */
	struct groups rows;              /* by the row that they are of, */
	struct run_changes line;         /* and those of one row */
	uint64_t pages, bytes;   /* changed and put by this transaction */
	const char *put, *found; /* the state before, in memory */
	uint64_t late, overflow;
	uint64_t entities_max;  /* of a partition: INDEXER_WRITE_ENTITIES_MAX */
	uint64_t entities_over; /* new ones beyond it, which are not kept */
	bool said_groups;       /* that there are too many */
};

void indexer_write_init(struct indexer_write *indexer_write);
void indexer_write_clear(struct indexer_write *indexer_write);

/* Records into heads.  Takes row numbers from the store's counter. */
void indexer_write_row_blocks(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect);
/* Entities, merged; those that are there can always be reported more of.
 * `again`: they come in any order, and may have been merged before; of two that
 * name one property the one that was received later has it, unless something
 * else was received in between and stored in a call before this one. */
void indexer_write_entities(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect, bool again);
/* Events into the states of phases, and those into statistics. */
void indexer_write_phases(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect);
/* Events and entities of runs into rows, and those into statistics. */
void indexer_write_runs(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect);
/* Put store->changes, of one model in a partition, into its groups. */
void indexer_write_run_changes(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct run_form *form);
/* Sum up all runs of the group and step of `of`: the long way to the same. */
void indexer_write_sum_runs(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct run_form *form,
    const struct run_change *of, struct duration_stats *stats);
/* What each partition holds now. */
void indexer_write_counts(struct db_txn *txn, const struct collect *collect);

/* ---- statistics of a phase, also for retention and verification ---- */

/* The row of (partition, phase); empty when there is none. */
void indexer_write_get_stats(struct db_txn *txn, uint32_t partition,
    uint32_t phase, struct duration_stats *stats);
void indexer_write_put_stats(struct indexer_write *indexer_write,
    struct db_txn *txn, uint32_t partition, uint32_t phase,
    const struct duration_stats *stats);
/* Sum up all states of the phase: the long way to the same result. */
void indexer_write_sum_states(struct indexer_write *indexer_write,
    struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats);

#endif
