/*
 * partition_table - the table that tells brokers which aggregator keeps which
 * partition.
 *
 * A text file (proto/README.md, "Partitions and their owners"), replaced by
 * rename, so that a reader finds the old one or the new one.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_PARTITION_TABLE_H
#define PROTO_CONFIG_PARTITION_TABLE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	PARTITIONS_ROWS_MAX = 1024,
	PARTITIONS_BYTES_MAX = 1 << 20,
	PARTITIONS_ENDPOINT_BYTES_MAX = 255,
};

struct partitions_row {
	struct text pattern, endpoint; /* text_match's; views */
};

/* Zeroed: version 0 without rows, as of a file that is not there. */
struct partitions {
	uint64_t version;
	uint32_t count;
	struct partitions_row row[PARTITIONS_ROWS_MAX];
	char *bytes; /* what the rows are views of */
};

/* Read the table out of `file`, which must live as long as the views: -1 and
 * "NAME:LINE: what". */
int partitions_parse(struct partitions *table, const char *name,
    struct text file, struct err *err);
/* The same of a file; one that is not there is an empty table. */
int partitions_read(
    struct partitions *table, const char *path, struct err *err);
void partitions_clear(struct partitions *table);

/* Have `partition` go to `endpoint` from now on, in a table of the next
 * version, and wait for the disk.  A table that says so already stays.
 * `*version` is that of the table then. */
int partitions_change(const char *path, struct text partition,
    struct text endpoint, uint64_t *version, struct err *err);

#endif
