/*
 * trip - records through the columns of the archive, as ClickHouse would give
 * them back.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H
#define TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_H

#include "tests/unit/check.h"

#include "aggregator/archive/rows/column_records.h"
#include "proto/clickhouse/native_read.h"

struct trip {
	enum record_kind kind;
	struct native_block *block;
	struct native_reader *reader;
	struct buffer bytes, body;
	/* What the arrays of a row point to. */
	struct text keys[RECORD_ATTRIBUTES_MAX], texts[RECORD_ATTRIBUTES_MAX];
	double numbers[RECORD_VALUES_MAX];
	uint64_t big[RECORD_VALUES_MAX];
};

static inline void
trip_open(struct trip *trip, enum record_kind kind)
{
	unsigned count;
	const struct native_column *columns = archive_columns(kind, &count);

	memset(trip, 0, sizeof(*trip));
	trip->kind = kind;
	trip->block = native_block_open(columns, count);
	trip->reader = native_read_open(columns, count);
}

static inline void
trip_close(struct trip *trip)
{
	native_block_close(&trip->block);
	native_read_close(&trip->reader);
	buffer_clear(&trip->bytes);
	buffer_clear(&trip->body);
}

/* The records that were put come back as a block, and the next ones begin
 * another. */
static inline void
trip_send(struct trip *trip)
{
	struct err err = { 0 };
	struct text piece;

	trip->bytes.bytes = 0;
	native_encode(trip->block, &trip->bytes);
	native_reset(trip->block);
	piece = buffer_text(&trip->bytes);
	if (native_read_next(trip->reader, &piece, &err) != 1)
		fail_msg("%s", err.text);
	assert_int_equal(piece.bytes, 0);
}

static inline uint32_t
trip_texts(const struct trip *trip, unsigned column, uint32_t i,
    struct text to[static RECORD_ATTRIBUTES_MAX])
{
	uint32_t first,
	    count = native_read_array(trip->reader, column, i, &first);

	assert_true(count <= RECORD_ATTRIBUTES_MAX);
	for (uint32_t k = 0; k < count; k++)
		to[k] = native_read_text(trip->reader, column, first + k);
	return count;
}

static inline void
trip_get_attributes(
    struct trip *trip, unsigned keys, uint32_t i, struct archive_row *row)
{
	row->keys = trip->keys;
	row->texts = trip->texts;
	row->key_count = trip_texts(trip, keys, i, trip->keys);
	row->types = native_read_text(trip->reader, keys + 1, i);
	row->text_count = trip_texts(trip, keys + 2, i, trip->texts);
}

static inline void
trip_get_values(struct trip *trip, uint32_t i, struct archive_row *row)
{
	const struct native_reader *r = trip->reader;
	uint32_t first;

	row->types = native_read_text(r, ARCHIVE_SAMPLE_TYPES, i);
	row->number_count =
	    native_read_array(r, ARCHIVE_SAMPLE_VALUES, i, &first);
	assert_true(row->number_count <= RECORD_VALUES_MAX);
	for (uint32_t k = 0; k < row->number_count; k++)
		trip->numbers[k] =
		    native_read_float(r, ARCHIVE_SAMPLE_VALUES, first + k);
	row->big_count = native_read_array(r, ARCHIVE_SAMPLE_BIG, i, &first);
	assert_true(row->big_count <= RECORD_VALUES_MAX);
	for (uint32_t k = 0; k < row->big_count; k++)
		trip->big[k] =
		    native_read_uint(r, ARCHIVE_SAMPLE_BIG, first + k);
	row->numbers = trip->numbers;
	row->big = trip->big;
}

static inline void
trip_get_own(struct trip *trip, uint32_t i, struct archive_row *row)
{
	const struct native_reader *r = trip->reader;

	switch (trip->kind) {
	case RECORD_EVENT:
		row->source = native_read_text(r, ARCHIVE_EVENT_SOURCE, i);
		row->name = native_read_text(r, ARCHIVE_EVENT_NAME, i);
		row->key = native_read_text(r, ARCHIVE_EVENT_UUID, i);
		trip_get_attributes(trip, ARCHIVE_EVENT_KEYS, i, row);
		break;
	case RECORD_SPAN:
		row->end_ns = native_read_int(r, ARCHIVE_SPAN_END, i);
		row->name = native_read_text(r, ARCHIVE_SPAN_NAME, i);
		row->key = native_read_text(r, ARCHIVE_SPAN_CATEGORY, i);
		trip_get_attributes(trip, ARCHIVE_SPAN_KEYS, i, row);
		break;
	case RECORD_GAP:
		row->end_ns = native_read_int(r, ARCHIVE_GAP_END, i);
		row->source = native_read_text(r, ARCHIVE_GAP_CLASS, i);
		row->name = native_read_text(r, ARCHIVE_GAP_REASON, i);
		row->count = native_read_uint(r, ARCHIVE_GAP_COUNT, i);
		break;
	case RECORD_REJECTED:
		row->name = native_read_text(r, ARCHIVE_REJECTED_REASON, i);
		row->count = native_read_uint(r, ARCHIVE_REJECTED_BYTES, i);
		row->body = native_read_text(r, ARCHIVE_REJECTED_BODY, i);
		row->key = native_read_text(r, ARCHIVE_REJECTED_HASH, i);
		break;
	default: trip_get_values(trip, i, row); break;
	}
}

/* Row `i` of the block; valid until the next call. */
static inline struct archive_row
trip_row(struct trip *trip, uint32_t i)
{
	const struct native_reader *r = trip->reader;
	struct archive_row row = {
		.id = { native_read_uint(r, ARCHIVE_PART, i),
		    (int32_t)native_read_int(r, ARCHIVE_HOUR, i),
		    (uint32_t)native_read_uint(r, ARCHIVE_NODE, i),
		    (uint32_t)native_read_uint(r, ARCHIVE_TRACK, i),
		    native_read_uint(r, ARCHIVE_POS, i) },
		.time_ns = native_read_int(r, ARCHIVE_TIME, i),
		.receive_ns = native_read_int(r, ARCHIVE_RECEIVED, i),
		.seq = native_read_uint(r, ARCHIVE_SEQ, i),
		.stream = (uint32_t)native_read_uint(r, ARCHIVE_STREAM, i),
		.index = (uint32_t)native_read_uint(r, ARCHIVE_INDEX, i),
	};

	trip_get_own(trip, i, &row);
	return row;
}

#endif
