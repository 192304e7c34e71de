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
	/* The row of the last records of nodes that was read last. */
	struct {
		uint32_t partition, block;
		struct latest_row row;
	} latest;
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
/* Check that a stored record is not later than what is kept of the last one of
 * its node. */
void verify_latest_record(struct check *check, uint32_t partition, uint8_t kind,
    uint32_t node, const struct row_block_item *record);
/* Check test runs and the statistics of their groups. */
void verify_runs(struct check *check);

#endif
