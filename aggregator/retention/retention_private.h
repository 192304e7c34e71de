/*
 * retention_private - the parts of a deletion: what to delete (rules.c), the
 * compacted samples (samples.c), the rows of phases (phases.c), the runs
 * (runs.c).  A limit's option is in aggregator/daemon/settings.c;
 * aggregator/writer/writer.c passes it on.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_RETENTION_RETENTION_PRIVATE_H
#define AGGREGATOR_RETENTION_RETENTION_PRIVATE_H

#include "aggregator/retention/retention.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"

enum {
	RETENTION_ROWS = 4096, /* deleted or examined per transaction */
	RETENTION_CHUNK = 16   /* deleting a chunk counts as this many rows */
};

int retention_find_cuts(struct retention *retention,
    const struct retention_limits *limits, struct retention_cuts *cuts,
    struct err *err);
/* The hour before which samples (0) or their rollup are deleted.  The cut of
 * all records applies to them too. */
int32_t retention_cut_of(const struct retention_cuts *cuts, unsigned rollup);

/* Does the archive lack records of this hour?  Then it is counted, and stays.
 */
bool retention_leaves(struct retention *retention, struct db_txn *txn,
    const struct key_row_block *hour);

/* Examine the rows of phases; true when all are done. */
bool retention_phases(struct retention *retention, struct db_txn *txn);
/* The same for runs. */
bool retention_runs(struct retention *retention, struct db_txn *txn);
/* Examine the compacted samples of a partition, at most `*rows` at a time; true
 * when all are done. */
bool retention_samples(struct retention *retention, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows);

#endif
