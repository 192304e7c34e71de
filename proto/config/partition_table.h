/*
 * partition_table - the table that tells brokers which aggregator keeps which
 * partition.
 *
 * A text file (proto/wire.md, "Partition table"), replaced by
 * rename, so that a reader finds the old one or the new one.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_PARTITION_TABLE_H
#define PROTO_CONFIG_PARTITION_TABLE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	PARTITION_TABLE_ROWS_MAX = 1024,
	PARTITION_TABLE_BYTES_MAX = 1 << 20,
	PARTITION_TABLE_ENDPOINT_BYTES_MAX = 255,
};

struct partition_table_row {
	struct text pattern, endpoint; /* text_match's; views */
};

/* Zeroed: version 0 without rows, as of a file that is not there. */
struct partition_table {
	uint64_t version;
	uint32_t count;
	struct partition_table_row row[PARTITION_TABLE_ROWS_MAX];
	char *bytes; /* what the rows are views of */
};

/* Read the table out of `file`, which must live as long as the views: -1 and
 * "NAME:LINE: what". */
int partition_table_parse(struct partition_table *table, const char *name,
    struct text file, struct err *err);
/* The same of a file; one that is not there is an empty table. */
int partition_table_read(
    struct partition_table *table, const char *path, struct err *err);
void partition_table_clear(struct partition_table *table);

/* Have `partition` go to `endpoint` from now on, in a table of the next
 * version, and wait for the disk.  A table that says so already stays.
 * `*version` is that of the table then. */
int partition_table_change(const char *path, struct text partition,
    struct text endpoint, uint64_t *version, struct err *err);

#endif
