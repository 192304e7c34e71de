/*
 * compact_pass - compaction: move row blocks into chunks, one hour of a
 * partition and kind at a time.
 *
 * A job merges slices of an hour (row blocks and compacted slices) into one
 * compacted slice, in the order of the records.  Each transaction writes some
 * chunks and removes their records from the old slices, so every record is in
 * exactly one place at each commit.  A job may stop at any time: its finished
 * transactions are valid, and the next job continues from there.
 *
 * The chunks of a transaction are planned first: records are read from a
 * snapshot, in any thread, and encoded.  Since then the indexer may have added
 * rows, which stay.  When retention or an administrator has deleted rows, the
 * plan is void.
 *
 * Compacted slices have a level.  Slices that were compacted while their hour
 * was being filled are merged as in a log-structured merge tree; a slice that
 * has all of an hour is on the last level.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_COMPACT_PASS_H
#define AGGREGATOR_WRITER_COMPACT_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/rows/hour_cursor.h"
#include "proto/base/arena.h"

enum {
	COMPACT_SLICES =
	    8, /* this many slices of a level become one of the next */
	COMPACT_STEP_ROWS = 2 * COMPACTED_ROW_ROWS_MAX, /* per transaction */
	COMPACT_STEP_BYTES = 6 << 20,
};

/* What to compact. */
struct compact_job {
	struct key_row_block hour; /* partition, kind, bucket */
	struct hour_cursor_choice choice;
	uint32_t level, slice; /* of the new slice */
	bool whole;            /* the job covers the whole hour */
	bool begun;
	/* Records up to and including this one are done. */
	struct compacted_row_item last;
};

/* Which row numbers are old enough to be idle. */
struct compact_quiet {
	uint32_t row; /* rows up to this one are */
	/* Rows up to this one will be, some time after fresh_ns. */
	uint32_t fresh;
	int64_t fresh_ns;
};

struct rollup_builder;

/* Its key has no slice and no row yet. */
struct compact_chunk {
	struct key_row_block key;
	struct text value;
};

struct compact {
	bool busy;
	struct compact_job job;

	/* position of the search for jobs */
	int64_t next_ns; /* monotonic: time of the next search */
	struct key_row_block at;
	unsigned table;
	bool searching;
	struct compact_quiet quiet, late;

	/* of one transaction */
	uint32_t step_rows; /* 0: COMPACT_STEP_ROWS; tests use less */
	struct compacted_row_writer *writer;
	struct compacted_row_rows rows;
	struct compacted_cursor_cache cache;
	struct hour_cursor hour_cursor;
	struct merge merge;
	struct arena arena;
	struct compacted_row_item *item;
	uint32_t items;
	struct compact_chunk *chunk;
	uint32_t chunks, chunk_room;
	/* The plan: what was there when it was made. */
	bool is_planned;
	bool is_damaged; /* something could not be read */
	bool through;    /* the job has no more records */
	uint32_t last_row;
	uint64_t dropped, removals;
	/* The sources: slices of row blocks, then compacted ones. */
	uint32_t *slice;
	uint32_t slices, row_block_slices, slice_room;
	struct row_block_builder row;
	bool complete; /* the last collected series block is complete */
	struct rollup_builder *rollups;
};

void compact_clear(struct compact *compact);

/* Does the archive lack records of the job?  Then the job waits. */
bool compact_is_held(const struct compact_job *job, struct db_txn *txn);

/* Plan the next transaction of the job; `txn` reads or writes. */
void compact_plan_pass(struct compact *compact, struct db_txn *txn);
/* Put the chunks of the plan, and remove their records from where they are. */
void compact_put_pass(struct compact *compact, struct db_txn *txn);
/* Both in one transaction.  `*done`: it was the last one of the job. */
enum db_result compact_pass(
    struct compact *compact, struct db *db, bool *done, struct err *err);

/* Part of a transaction: remove the records up to and including `last` from
 * the slices that they came from.  `row` is the last row number given. */
void compact_trim(struct compact *compact, struct db_txn *txn,
    const struct compacted_row_item *last, uint32_t *row);

#endif
