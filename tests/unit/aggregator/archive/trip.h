/*
 * trip - records through the columns of the archive, as ClickHouse would give
 * them back.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H
#define TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H

#include "tests/unit/check.h"

#include "aggregator/archive/pull/pull_rows.h"
#include "proto/clickhouse/native.h"

struct trip {
	enum record_kind kind;
	struct native_block *block;
	struct pull_rows rows;
	struct buffer bytes, body;
};

static inline void
trip_open(struct trip *trip, enum record_kind kind)
{
	unsigned count;
	const struct native_column *columns = archive_columns(kind, &count);

	memset(trip, 0, sizeof(*trip));
	trip->kind = kind;
	trip->block = native_block_open(columns, count);
}

static inline void
trip_close(struct trip *trip)
{
	native_block_close(&trip->block);
	pull_rows_clear(&trip->rows);
	buffer_clear(&trip->bytes);
	buffer_clear(&trip->body);
}

/* The records that were put come back as a block, and the next ones begin
 * another. */
static inline void
trip_send(struct trip *trip)
{
	trip->bytes.bytes = 0;
	native_encode(trip->block, &trip->bytes);
	native_reset(trip->block);
	pull_rows_begin(&trip->rows, trip->kind, buffer_text(&trip->bytes));
}

/* The next row of the block, valid until the next call; false: there is none.
 */
static inline bool
trip_next(struct trip *trip, struct archive_row *row)
{
	struct err err = { .text = "" };
	int got = pull_rows_next(&trip->rows, row, &err);

	if (got < 0)
		fail_msg("%s", err.text);
	return got == 1;
}

#endif
