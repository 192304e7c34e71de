/*
 * verify_private - shared by the files of verify.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ADMIN_VERIFY_PRIVATE_H
#define AGGREGATOR_ADMIN_VERIFY_PRIVATE_H

#include "aggregator/indexer/write_records.h"

struct check {
	struct db_txn *txn;
	struct indexer_write indexer_write;
	struct duration_stats *kept; /* from the table of statistics */
	int64_t wrong;
	void (*report)(void *arg, const char *sentence);
	void *arg;
};

/* Count an error, and report it unless `report` is NULL. */
void __attribute__((format(printf, 2, 3)))
verify_report(struct check *check, const char *format, ...);

/* Check row blocks, compacted chunks and rollups, and the counts of the
 * partitions. */
void verify_records(struct check *check);
void verify_rollups(struct check *check);
/* Check test runs and the statistics of their groups. */
void verify_runs(struct check *check);

#endif
