/*
 * generate_row - rows of generated pools: definitions and samples, and the file
 * of all rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_ROW_H
#define AGENTS_GENERATE_ROW_H

#include "agents/import/source.h"
#include "proto/metric/metric_groups.h"

enum { GENERATE_ROW_VALUES_BYTES = 9 * METRIC_GROUP_COLUMNS_MAX };

/* The row defines metric group `name` of the node; users do not count it. */
void generate_row_define(struct import_row *row, const char *node,
    const struct metric_group *group, const char *name);

/* The row is a sample, whose values `body` keeps. */
void generate_row_sample(struct import_row *row, const char *set,
    int64_t time_ns, const int64_t *values, uint32_t count,
    unsigned char body[static GENERATE_ROW_VALUES_BYTES]);

/* Write the rows as poolscope-dump would print them to DIR/records.jsonl. */
int generate_row_file(const struct import_source *source, struct text partition,
    const char *dir, struct err *err);

#endif
