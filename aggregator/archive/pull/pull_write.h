/*
 * pull_write - write records that come in order as row blocks.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_WRITE_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/pull/pull_sum.h"
#include "aggregator/archive/rows/column_records.h"
#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"

/* What was written to the store. */
struct pull_written {
	uint32_t row;                   /* the last row number given */
	uint64_t records;               /* ever */
	uint64_t bytes;                 /* of row blocks */
	struct partition_counts counts; /* of records of the partition */
	int64_t oldest_ns, last_ns;     /* the oldest and the newest one were
					   received */
};

/* All zeros but `partition` and `part`; pull_write_open. */
struct pull_write {
	uint32_t partition; /* of the store */
	uint64_t part;
	struct pull_written now, before;

	/* The hour of a shard, in one transaction. */
	struct db_txn *txn;
	enum record_kind kind;
	int32_t hour;
	struct pull_sum sum;
	struct key_row_block key; /* series of the last record */
	struct row_block_item last;
	bool has_last;

	uint32_t last_name; /* the highest number of a name */
	struct row_block_builder builder;
	struct buffer body;
};

int pull_write_open(
    struct pull_write *write, struct db *tables, struct err *err);
int pull_write_begin(struct pull_write *write, struct db *tables,
    enum record_kind kind, int32_t hour, struct err *err);
/* The next row, in the order of identity; one that is there twice is written
 * once.  -1: it is not in order, or malformed. */
int pull_write_row(
    struct pull_write *write, const struct archive_row *row, struct err *err);
int pull_write_commit(struct pull_write *write, struct err *err);
/* As if nothing was written since the begin. */
void pull_write_abort(struct pull_write *write);
/* Replace the counts of the partition, and close. */
int pull_write_close(
    struct pull_write *write, struct db *tables, struct err *err);
void pull_write_clear(struct pull_write *write);

#endif
