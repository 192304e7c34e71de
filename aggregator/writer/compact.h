/*
 * compact - heads into chunks, an hour of one partition and kind at a time.
 *
 * A job merges runs of an hour, heads and compacted ones, into one compacted
 * run, from the front of their order to its end.  A transaction writes some
 * chunks and removes what is in them from where it was, so that every record is
 * in one place at each commit: a job may end anywhere, what it has done is good
 * and the next job goes on from there.
 *
 * Sealed runs have a level: those of slices, that were made while an hour was
 * being filled, are merged as those of a log-structured tree are; what has all
 * of an hour is of the last level.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_COMPACT_H
#define AGGREGATOR_WRITER_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/rows/compacted_row.h"
#include "proto/base/arena.h"

enum {
	COMPACT_RUNS = 8, /* so many of a level become one of the next */
	COMPACT_STEP_ROWS = 2 * COMPACTED_ROW_ROWS_MAX, /* of a transaction */
	COMPACT_STEP_BYTES = 6 << 20,
};

static inline uint32_t
compact_level(uint32_t run)
{
	return run >> COMPACTED_ROW_LEVEL_BITS;
}

/* What is being compacted. */
struct compact_job {
	struct key_row_block hour; /* partition, kind, bucket */
	struct hour_cursor_choice choice;
	uint32_t level, run; /* of what comes out */
	bool whole;          /* all that there is of the hour */
	bool begun;
	struct compacted_row_item last; /* records up to here are done */
};

/* Which rows have been there for a while. */
struct compact_quiet {
	uint32_t row;   /* those up to here have */
	uint32_t fresh; /* those up to here will have, some time after ... */
	int64_t fresh_ns;
};

struct rollup_builder;

struct compact {
	bool busy;
	struct compact_job job;

	/* where looking for jobs is */
	int64_t next_ns; /* monotonic: when to look again */
	struct key_row_block at;
	unsigned table;
	bool looking;
	struct compact_quiet quiet, late;

	/* of a transaction */
	uint32_t step_rows; /* 0: COMPACT_STEP_ROWS; tests use less */
	uint32_t dense;     /* 0: ROLLUP_DENSE; the same */
	struct compacted_row_writer *writer;
	struct compacted_row_rows rows;
	struct compacted_cursor_cache cache;
	struct hour_cursor hour_cursor;
	struct merge merge;
	struct arena arena;
	struct compacted_row_item *item;
	uint32_t items;
	uint32_t *run; /* the sources: heads, then compacted ones */
	uint32_t runs, row_block_runs, run_room;
	struct row_block_row row;
	bool complete; /* the last series_block that was taken is */
	struct rollup_builder *rollups;
};

void compact_clear(struct compact *compact);

/* The next transaction of the job; `*done`: it was the last. */
enum db_result compact_pass(
    struct compact *compact, struct db *db, bool *done, struct err *err);

/* Part of it: remove the records up to and with `last` from the runs that they
 * were read from.  `row` is the last row number given. */
void compact_trim(struct compact *compact, struct db_txn *txn,
    const struct compacted_row_item *last, uint32_t *row);

#endif
