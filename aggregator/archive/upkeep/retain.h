/*
 * retain - delete old records of an archive.
 *
 * First is noted from which hour on records are kept (kept.h), so that nobody
 * takes the older ones for missing.  Of all partitions whole days are dropped;
 * of one partition its rows are deleted by a mutation, which the servers do
 * within minutes.  What arrives later for such days stays until the next time.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_RETAIN_H
#define AGGREGATOR_ARCHIVE_UPKEEP_RETAIN_H

#include <stdint.h>

#include "proto/answer/answer.h"
#include "proto/base/err.h"
#include "proto/clickhouse/client.h"

/* After clickhouse_find.  Delete the records of whole days (UTC) before
 * `before_ns`, of partitions whose names match (text_match_partition; NULL:
 * all).  It may be repeated.  Prints a row for each partition that matches, or
 * for each table.  -1: a shard did not do it, or no partition matches. */
int retain_records(struct clickhouse *client, const char *pattern,
    int64_t before_ns, struct answer *answer, struct err *err);
extern const struct answer_table retain_tables[];

#endif
