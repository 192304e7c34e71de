/*
 * create - make the tables of an archive, add what newer versions have, and
 * remove it.
 *
 * Each statement goes to each replica.  All may be repeated: a table that is
 * there stays as it is.  A replica that is not up is an error at the end, after
 * the others were changed.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_CREATE_H
#define AGGREGATOR_ARCHIVE_SCHEMA_CREATE_H

#include "aggregator/archive/schema/survey.h"
#include "proto/answer/answer.h"

/* After clickhouse_find.  Prints a row for each replica: what was done there,
 * also if others failed. */
int create_archive(struct clickhouse *clickhouse,
    const struct schema_storage *storage, struct answer *answer,
    struct err *err);
extern const struct answer_table create_archive_tables[];
int create_drop(
    struct clickhouse *clickhouse, struct answer *answer, struct err *err);
extern const struct answer_table create_drop_tables[];

#endif
