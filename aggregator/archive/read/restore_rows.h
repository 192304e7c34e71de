/*
 * restore_rows - copy the rows of a partition of the archive into a store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_RESTORE_ROWS_H
#define AGGREGATOR_ARCHIVE_READ_RESTORE_ROWS_H

#include "aggregator/archive/read/read_private.h"

struct restore_rows {
	struct archive_read *read; /* not owned, as the next */
	struct db *tables;
	int32_t from_hour; /* records before this hour stay away */

	uint64_t records, rows; /* that were copied */
	int64_t last_ns;        /* the newest of these records was received */
	uint32_t row;           /* the last row number given */
	/* Of the partition: what its records are. */
	struct partition_counts found;

	/* private */
	struct db_txn *txn;
	size_t bytes;      /* in the transaction */
	uint32_t from, to; /* numbers of the partition: read, in the store */
};

/* Copy all of partition `number` of `read`. */
int restore_rows(struct restore_rows *rows, uint32_t number, struct err *err);

#endif
