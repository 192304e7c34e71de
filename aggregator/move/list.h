/*
 * move_list - what a store keeps, and where brokers send it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MOVE_LIST_H
#define AGGREGATOR_MOVE_LIST_H

#include <stdio.h>

#include "proto/base/err.h"
#include "proto/format/report.h"

/* `table`: the file of the brokers' table, which may be missing; as a table it
 * is shown below. */
int partitions_list(enum report_format format, FILE *file, const char *store,
    const char *table, struct err *err);

#endif
