/*
 * compare - does each replica have what was committed (commits.h)?
 *
 * Of each partition, table, hour and shard, and of each phase.  Hours before
 * those that the archive keeps (kept.h) are not compared.  With `repair` hours
 * of which a replica lacks records get marks (marks.h), so that the store sends
 * them again; if other rows are lacking, everything is sent again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_COMPARE_H
#define AGGREGATOR_ARCHIVE_UPKEEP_COMPARE_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/answer/answer.h"

/* After clickhouse_find.  Prints a row for what a replica lacks.  0: nothing,
 * but what waits or was marked; 1: something; -1: the store or the archive
 * cannot be read, or not marked.  With `repair` the caller holds the lock of
 * the store. */
int compare_store(struct clickhouse *clickhouse, const char *store, bool repair,
    struct answer *answer, struct err *err);
extern const struct answer_table compare_tables[];

#endif
