/*
 * partition_table - maps partitions to aggregators, for brokers.
 *
 * A text file (proto/wire.md, "Partition table"), replaced by rename, so that
 * a reader finds either the old or the new table.
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
	struct text pattern;  /* of text_match; a view */
	struct text endpoint; /* a view */
};

/* Zeroed: version 0 without rows, like a file that does not exist. */
struct partition_table {
	uint64_t version;
	uint32_t count;
	struct partition_table_row row[PARTITION_TABLE_ROWS_MAX];
	char *bytes; /* the content that the rows point into */
};

/* Parse the table in `file`, which must outlive the views.  -1: `err` is
 * "NAME:LINE: reason". */
int partition_table_parse(struct partition_table *table, const char *name,
    struct text file, struct err *err);
/* Read a table from a file; a file that does not exist is an empty table. */
int partition_table_read(
    struct partition_table *table, const char *path, struct err *err);
void partition_table_clear(struct partition_table *table);

#endif
