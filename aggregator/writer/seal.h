/*
 * seal - heads into chunks, an hour of one partition and kind at a time.
 *
 * A job merges runs of an hour, heads and sealed ones, into one sealed run,
 * from the front of their order to its end.  A transaction writes some chunks
 * and removes what is in them from where it was, so that every record is in
 * one place at each commit: a job may end anywhere, what it has done is good
 * and the next job goes on from there.
 *
 * Sealed runs have a level: those of slices, that were made while an hour was
 * being filled, are merged as those of a log-structured tree are; what has all
 * of an hour is of the last level.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_WRITER_SEAL_H
#define AGGREGATOR_WRITER_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/rows/sealed_row.h"
#include "proto/base/arena.h"

enum {
	SEAL_RUNS = 8, /* so many of a level become one of the next */
	SEAL_STEP_ROWS = 2 * SEALED_ROW_ROWS_MAX, /* of a transaction */
	SEAL_STEP_BYTES = 6 << 20,
};

static inline uint32_t
seal_level(uint32_t run)
{
	return run >> SEALED_ROW_LEVEL_BITS;
}

/* What is being sealed. */
struct seal_job {
	struct key_head hour; /* partition, kind, bucket */
	struct hour_cursor_choice choice;
	uint32_t level, run; /* of what comes out */
	bool whole;          /* all that there is of the hour */
	bool begun;
	struct sealed_row_item last; /* records up to here are done */
};

/* Which rows have been there for a while. */
struct seal_quiet {
	uint32_t row;   /* those up to here have */
	uint32_t fresh; /* those up to here will have, some time after ... */
	int64_t fresh_ns;
};

struct tier_builder;

struct seal {
	bool busy;
	struct seal_job job;

	/* where looking for jobs is */
	int64_t next_ns; /* monotonic: when to look again */
	struct key_head at;
	unsigned table;
	bool looking;
	struct seal_quiet quiet, late;

	/* of a transaction */
	uint32_t step_rows; /* 0: SEAL_STEP_ROWS; tests use less */
	uint32_t dense;     /* 0: TIER_DENSE; the same */
	struct sealed_row_writer *writer;
	struct sealed_row_rows rows;
	struct sealed_cursor_cache cache;
	struct hour_cursor hour_cursor;
	struct merge merge;
	struct arena arena;
	struct sealed_row_item *item;
	uint32_t items;
	uint32_t *run; /* the sources: heads, then sealed ones */
	uint32_t runs, head_runs, run_room;
	struct head_row row;
	bool complete; /* the last band that was taken is */
	struct tier_builder *tiers;
};

void seal_clear(struct seal *seal);

/* The next transaction of the job; `*done`: it was the last. */
enum db_result seal_pass(
    struct seal *seal, struct db *db, bool *done, struct err *err);

/* Part of it: remove the records up to and with `last` from the runs that they
 * were read from.  `row` is the last row number given. */
void seal_trim(struct seal *seal, struct db_txn *txn,
    const struct sealed_row_item *last, uint32_t *row);

#endif
