/*
 * retention - delete records that are too old or exceed the size limit, hour
 * by hour.
 *
 * Row blocks, chunks and rollups are ordered by hour, so the oldest are one
 * range of keys for each partition and kind.  Then the rows of phases are
 * examined: events that old are removed from them and from the statistics,
 * which therefore always match the stored events.  In a store with an archive
 * phases, runs and entities stay: the archive has them as rows of the store,
 * and would lose them. Transactions are bounded and alternate with those of the
 * indexer.
 *
 * While the wall clock is in doubt (store_clock.h), nothing is deleted by age.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_RETENTION_RETENTION_H
#define AGGREGATOR_RETENTION_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/indexer/write_records.h"
#include "aggregator/model/model.h"
#include "aggregator/retention/store_clock.h"
#include "aggregator/rollup/rollup_build.h"
#include "aggregator/tables/row_block.h"

struct retention_limits {
	/* Maximum ages; 0: no limit.  Of all records, of compacted samples, of
	 * their rollups of a minute. */
	int64_t retain_ns, retain_raw_ns, retain_1min_ns;
	uint64_t retain_bytes; /* maximum size of the tables; 0: no limit */
};

/* Delete hours before these (INT32_MIN: none): samples and each rollup, all
 * records. */
enum { RETENTION_ALL = ROLLUPS, RETENTION_CUTS };
struct retention_cuts {
	int32_t before[RETENTION_CUTS];
};

struct retention {
	/* not owned */
	struct db *db;
	struct indexer_write *indexer_write; /* statistics, and room */
	const struct model_set *models;

	struct store_clock clock;       /* stepped by the indexer too */
	enum store_clock_doubt doubt;   /* of the last check */
	enum store_clock_doubt stopped; /* why nothing is deleted by age */
	int64_t clock_lead_ns;          /* store_clock_lead_ns, then */

	int64_t next_ns;    /* monotonic: time of the next check */
	int64_t deleted_ns; /* records before this time were deleted; 0: none */
	int32_t compacted;  /* the oldest hour of samples compacted since the
			       last check; INT32_MAX: none */

	/* The position of the deletion. */
	struct retention_cuts cuts;
	struct retention_cuts done;     /* cuts whose deletion is complete */
	uint32_t partition, data_class; /* rows: examined next */
	struct key_row_block at;        /* samples: position of the walk */
	struct rollup_builder *rollups; /* NULL: not in use yet */
	struct compacted_row_rows rows; /* of a chunk of samples */
	bool is_full; /* there was no space for what is built: build less */
	bool rows_done;
	uint32_t phase_partition, phase; /* phases: continue with this one */
	struct run_row_key run;          /* runs: continue with this one */
	bool phases_done;
	int32_t derived; /* phases and runs before this hour were deleted */
	/* Hours that this deletion, and the last one, left, because the archive
	 * lacks records of them; the oldest one, INT32_MAX: none. */
	uint64_t holding, held;
	int32_t held_hour;
	struct key_row_block last_held; /* counted last */
	uint64_t removals; /* transactions that deleted something */
	bool is_over; /* what stays for the archive exceeds the size limit */
};

/* The arguments must outlive `retention`. */
void retention_init(struct retention *retention, struct db *db,
    struct indexer_write *indexer_write, const struct model_set *models);

void retention_clear(struct retention *retention);

/* Delete old records in one bounded transaction, when it is time.  `*more`:
 * there is more to delete now. */
enum db_result retention_step(struct retention *retention,
    const struct retention_limits *limits, bool *more, struct err *err);

#endif
