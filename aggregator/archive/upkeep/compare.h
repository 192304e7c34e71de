/*
 * compare - does each replica have the records of a store, hour by hour?
 *
 * Of each partition, kind of record, hour and shard the number of records and
 * the sum of the hashes of their identities must be equal.  Hours with marks
 * (marks.h) may lack what the archiver has not sent yet; hours whose records
 * the archive has deleted (kept.h) are not compared.  With `repair` the hours
 * of which a replica lacks records get marks, so that they are sent again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_COMPARE_H
#define AGGREGATOR_ARCHIVE_UPKEEP_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/answer/answer.h"

/* After clickhouse_find.  Prints a row for each hour and replica that is not
 * equal.  0: all hours are equal, but for those that wait or were marked; 1:
 * some are not; -1: the store or the archive cannot be read, or not marked.
 * With `repair` the caller holds the lock of the store. */
int compare_store(struct clickhouse *clickhouse, const char *store, bool repair,
    struct answer *answer, struct err *err);
extern const struct answer_table compare_tables[];

#endif
