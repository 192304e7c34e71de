/*
 * write_records - write what was collected to the tables, in the order of the
 * keys.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_WRITE_RECORDS_H
#define AGGREGATOR_INDEXER_WRITE_RECORDS_H

#include <stdint.h>

#include "aggregator/indexer/collect.h"
#include "aggregator/phases/phase_items.h"
#include "aggregator/phases/phase_memory.h"
#include "aggregator/phases/run_sum.h"
#include "aggregator/tables/latest.h"

/* Senders choose the names of entities, and retention never deletes
 * entities. */
enum { INDEXER_WRITE_ENTITIES_MAX = 10000000 };

/* Of a metric group: where its samples have a value that `latest` keeps. */
struct indexer_write_column {
	uint32_t partition, track; /* partition 0: of none */
	bool is_wanted, is_clock;  /* clock, or spool */
	uint32_t index, columns;
};

/* What a row block says of a node. */
struct indexer_write_latest {
	uint32_t node;
	struct latest last;
};

struct indexer_write {
	struct row_block_builder row;
	struct buffer value;          /* the row being written */
	struct duration_stats *stats; /* of the current phase */
	/* Phases: what is known of states, and how the store is read. */
	struct phase_memory memory;
	struct part_cursor parts;
	struct phase_items items;
	bool is_rebuild; /* what is not in memory is not in the store */
	/* The events of the part that is written. */
	struct part_row_item *item;
	uint32_t item_count, item_room;
	struct part_row newest; /* row of the part that they are added to */
	/* A late event: the stored ones of its time, and all of them. */
	struct phase_entry *old, *merged;
	uint32_t old_count, old_room, merged_count, merged_room;
	struct pairer pairer, other_pairer;
	struct phase_sum before, after;
	struct packed *packed; /* test runs and entities that rest */
	struct run_row *run,
	    *other_run; /* the current run; a run being summed */
	struct run_sum_changes changes; /* to the statistics of run groups, */
	struct groups rows;             /* grouped by row, */
	struct run_sum_changes line;    /* and those of one row */
	/* What was heard of nodes, grouped by (partition, row). */
	struct indexer_write_latest *latest;
	struct indexer_write_column latest_column; /* of the last samples */
	uint32_t latest_count, latest_room;
	struct groups latest_rows;
	uint64_t bytes;         /* written by this transaction */
	uint64_t overflow;      /* events beyond the limit of a phase or run */
	uint64_t entities_max;  /* per partition: INDEXER_WRITE_ENTITIES_MAX;
				   tests use less */
	uint64_t entities_over; /* new entities beyond it, not stored */
	bool warned_groups; /* the log line about too many groups was written */
};

void indexer_write_init(struct indexer_write *indexer_write);
void indexer_write_clear(struct indexer_write *indexer_write);

/* Write records as row blocks.  Row numbers come from the counter of the
 * store. */
void indexer_write_row_blocks(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect);
/* Note what a row block says of its node, whose last record is `last`; write
 * what was noted, and which nodes were heard or have stopped. */
void indexer_write_note_latest(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect, const struct group *group,
    struct latest last);
void indexer_write_latest(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct collect *collect);
/* Write entities, merged with the stored ones; a stored entity may always get
 * more attributes.  With `again` they come in any order and may have been
 * merged before: of two values of one attribute the one received later stays,
 * unless an entity received in between was written by an earlier call. */
void indexer_write_entities(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect, bool again);
/* Add events to the parts of phases, and to their statistics.  After a
 * transaction that was not committed, phase_memory_forget is due. */
void indexer_write_phases(struct indexer_write *indexer_write,
    struct db_txn *txn, struct collect *collect);
/* Add events and entities to the rows of runs, and these to the statistics. */
void indexer_write_runs(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect);
/* Apply indexer_write->changes, of one model in a partition, to its groups. */
void indexer_write_run_changes(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct run_sum_form *form);
/* Move a run in the index by time, from `*from_ns` to `*to_ns`
 * (run_row_time).  NULL: it was, or is to be, nowhere. */
void indexer_write_run_time(struct indexer_write *indexer_write,
    struct db_txn *txn, const struct run_row_key *run, const int64_t *from_ns,
    const int64_t *to_ns);
/* Add the collected counts to those of each partition. */
void indexer_write_counts(struct db_txn *txn, const struct collect *collect);

/* ---- statistics of a phase, also for retention and verification ---- */

/* The stored statistics of (partition, phase); empty when there are none. */
void indexer_write_get_stats(struct db_txn *txn, uint32_t partition,
    uint32_t phase, struct duration_stats *stats);
void indexer_write_put_stats(struct indexer_write *indexer_write,
    struct db_txn *txn, uint32_t partition, uint32_t phase,
    const struct duration_stats *stats);
/* Recompute the statistics of the phase from all its events. */
void indexer_write_sum_phase(struct indexer_write *indexer_write,
    struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats);

#endif
