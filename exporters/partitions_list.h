/*
 * partitions_list - what a store keeps, and where brokers send it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PARTITIONS_LIST_H
#define EXPORTERS_PARTITIONS_LIST_H

#include <stdio.h>

#include "exporters/result_rows.h"
#include "proto/err.h"

/* `table`: the file of the brokers' table, which may be missing; as a table it
 * is shown below. */
int partitions_list(enum result_format format, FILE *file, const char *store,
    const char *table, struct err *err);

#endif
