/*
 * mirror_counts - what the archive says is stored of each partition.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_MIRROR_MIRROR_COUNTS_H
#define AGGREGATOR_ARCHIVE_MIRROR_MIRROR_COUNTS_H

#include "aggregator/archive/pull/pull_claims.h"
#include "proto/base/text.h"

/* `call` with the newest row of table meta that counts (tables_counts_key), for
 * each of the partitions that has one; `value` is a view.  Of several replicas
 * the newest row counts.  -1: no replica of a shard answers, and the error
 * names it. */
typedef void mirror_count(void *arg, uint32_t partition, struct text value);
int mirror_counts(struct clickhouse *client, const struct pull_claims *claims,
    mirror_count *call, void *arg, struct err *err);

#endif
