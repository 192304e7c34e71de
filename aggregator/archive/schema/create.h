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

#include <stdio.h>

#include "aggregator/archive/schema/survey.h"

/* After clickhouse_find.  What was done is printed to `say`. */
int create_archive(struct clickhouse *clickhouse,
    const struct schema_storage *storage, FILE *say, struct err *err);
int create_drop(struct clickhouse *clickhouse, FILE *say, struct err *err);

#endif
