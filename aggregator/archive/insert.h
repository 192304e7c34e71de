/*
 * insert - write a block of rows to the archive.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_INSERT_H
#define AGGREGATOR_ARCHIVE_INSERT_H

#include "proto/clickhouse/client.h"
#include "proto/clickhouse/native.h"

/* Insert a block into a table of a shard, at `wanted` of its replicas: the
 * first that take it.  -1: it is not known that they have it. */
int insert_block(struct clickhouse *client, unsigned shard, const char *table,
    struct native_block *block, unsigned wanted, struct err *err);

#endif
