/*
 * trip - records through the columns of the archive, as ClickHouse would give
 * them back.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H
#define TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H

#include "tests/unit/check.h"

#include "aggregator/archive/read/fetch.h"
#include "aggregator/archive/rows/typed.h"
#include "proto/clickhouse/native.h"

struct trip {
	enum record_kind kind;
	struct native_block *block;
	struct native_column columns[SCHEMA_COLUMNS_MAX];
	unsigned count;
	struct fetch fetch;
	struct text rest;
	struct buffer bytes, body;
};

static inline void
trip_open(struct trip *trip, enum record_kind kind)
{
	memset(trip, 0, sizeof(*trip));
	trip->kind = kind;
	trip->count = typed_columns(typed_of_kind(kind), trip->columns);
	trip->block = native_block_open(trip->columns, trip->count);
}

static inline void
trip_close(struct trip *trip)
{
	native_block_close(&trip->block);
	native_read_close(&trip->fetch.reader);
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
	native_read_close(&trip->fetch.reader);
	trip->fetch.reader = native_read_open(trip->columns, trip->count);
	trip->fetch.row = 0;
	trip->rest = buffer_text(&trip->bytes);
}

/* The next row of the block, valid until the next call; false: there is none.
 */
static inline bool
trip_next(struct trip *trip, struct archive_row *row)
{
	struct err err = { .text = "" };
	struct fetch *fetch = &trip->fetch;

	if (fetch->row == native_read_rows(fetch->reader)) {
		int got = native_read_next(fetch->reader, &trip->rest, &err);

		if (got < 0 ||
		    (got == 0 && native_read_end(fetch->reader, &err) != 0))
			fail_msg("%s", err.text);
		if (got == 0)
			return false;
		fetch->row = 0;
	}
	fetch->column = 0;
	assert_true(fetch_record(fetch, trip->kind, row));
	fetch->row++;
	return true;
}

#endif
