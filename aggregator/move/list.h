/*
 * move_list - list the partitions of a store and the partition table.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_LIST_H
#define AGGREGATOR_MOVE_LIST_H

#include <stdio.h>

#include "proto/base/err.h"
#include "proto/format/report.h"

/* `table`: the file of the partition table, which need not exist; in table
 * format its rows are printed after the partitions. */
int partitions_list(enum report_format format, FILE *file, const char *store,
    const char *table, struct err *err);

#endif
