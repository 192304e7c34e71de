/*
 * archive_id - which archive it is.
 *
 * Each shard has a random number of its own, and one more whenever a table that
 * had rows is made again: rows `id:NUMBER` of table meta.  All of them together
 * are the id, so it changes when anything that was archived may be gone.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_ARCHIVE_ID_H
#define AGGREGATOR_ARCHIVE_SCHEMA_ARCHIVE_ID_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

/* -1: a shard does not answer, or has no number. */
int archive_id_read(
    struct clickhouse *clickhouse, uint64_t *id, struct err *err);
/* Give the shard another number, on one of its replicas. */
int archive_id_add(struct clickhouse *clickhouse, unsigned shard,
    unsigned replica, struct err *err);

#endif
