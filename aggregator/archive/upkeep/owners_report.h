/*
 * owners_report - print which aggregators write to an archive, and up to where
 * each one's rows count.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_UPKEEP_OWNERS_REPORT_H
#define AGGREGATOR_ARCHIVE_UPKEEP_OWNERS_REPORT_H

#include <stdio.h>

#include "proto/base/err.h"
#include "proto/clickhouse/client.h"
#include "proto/answer/answer.h"

/* After clickhouse_find.  Prints a row for each epoch, in ascending order; logs
 * each thing that must be done as an error.  0: there is none; 1: there is; -1:
 * a shard does not answer. */
int owners_report_print(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err);
extern const struct answer_table owners_tables[];

#endif
