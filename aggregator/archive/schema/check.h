/*
 * check - print what the replicas of an archive have, and say what must be
 * done.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_CHECK_H
#define AGGREGATOR_ARCHIVE_SCHEMA_CHECK_H

#include "aggregator/archive/schema/survey.h"
#include "proto/answer/answer.h"

/* After clickhouse_find.  Prints a row for each replica; logs each thing that
 * must be done as an error.  0: there is none; 1: there is; -1: it is not an
 * archive of this program. */
int check_archive(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err);
extern const struct answer_table check_tables[];
/* Prints a row for each table of each replica. */
int check_status(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err);
extern const struct answer_table check_status_tables[];

#endif
