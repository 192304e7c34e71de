/*
 * partitions - the partitions of the archive.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PARTITIONS_H
#define AGGREGATOR_ARCHIVE_PARTITIONS_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/record/record.h"

struct partitions_item {
	uint64_t part; /* the hash of the name */
	char name[NAME_BYTES_MAX + 1];
};

/* Zeroed: none. */
struct partitions {
	struct partitions_item *at; /* in the byte order of the names */
	uint32_t count, room;
};

/* Read those whose names match (text_match_partition; NULL: all).  A shard of
 * which no replica answers is an error. */
int partitions_read(struct partitions *partitions, struct clickhouse *client,
    const char *pattern, struct err *err);
void partitions_clear(struct partitions *partitions);

#endif
