/*
 * pull_rows - answers of the tables of records, row by row.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_PULL_PULL_ROWS_H
#define AGGREGATOR_ARCHIVE_PULL_PULL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/column_records.h"
#include "proto/clickhouse/native_read.h"

struct pull_rows {
	enum record_kind kind;
	struct native_reader *reader;
	uint32_t next; /* row of the block */
	struct text rest;
	/* What the arrays of a row point to. */
	struct text keys[RECORD_ATTRIBUTES_MAX], texts[RECORD_ATTRIBUTES_MAX];
	double numbers[RECORD_VALUES_MAX];
	uint64_t big[RECORD_VALUES_MAX];
};

/* `answer` has the columns of archive_columns, and must outlive its rows. */
void pull_rows_begin(
    struct pull_rows *rows, enum record_kind kind, struct text answer);
/* 1: the next row, valid until the next call; 0: the answer was whole, and has
 * ended; -1: it is not what was asked for. */
int pull_rows_next(
    struct pull_rows *rows, struct archive_row *row, struct err *err);
void pull_rows_clear(struct pull_rows *rows);

#endif
