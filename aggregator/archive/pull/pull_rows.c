/*
 * pull_rows - answers of the tables of records, row by row.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_rows.h"

void
pull_rows_begin(
    struct pull_rows *rows, enum record_kind kind, struct text answer)
{
	const struct native_column *columns;
	unsigned count;

	native_read_close(&rows->reader);
	columns = archive_columns(kind, &count);
	rows->reader = native_read_open(columns, count);
	rows->kind = kind;
	rows->rest = answer;
	rows->next = 0;
}

void
pull_rows_clear(struct pull_rows *rows)
{
	native_read_close(&rows->reader);
}

/* False: more elements than a record has. */
static bool
get_texts(
    struct pull_rows *rows, unsigned column, struct text *to, uint32_t *count)
{
	uint32_t first;

	*count = native_read_array(rows->reader, column, rows->next, &first);
	if (*count > RECORD_ATTRIBUTES_MAX)
		return false;
	for (uint32_t i = 0; i < *count; i++)
		to[i] = native_read_text(rows->reader, column, first + i);
	return true;
}

static bool
get_attributes(struct pull_rows *rows, unsigned keys, struct archive_row *row)
{
	row->keys = rows->keys;
	row->texts = rows->texts;
	row->types = native_read_text(rows->reader, keys + 1, rows->next);
	return get_texts(rows, keys, rows->keys, &row->key_count) &&
	       get_texts(rows, keys + 2, rows->texts, &row->text_count);
}

static bool
get_values(struct pull_rows *rows, struct archive_row *row)
{
	const struct native_reader *r = rows->reader;
	uint32_t first, first_big;

	row->types = native_read_text(r, ARCHIVE_SAMPLE_TYPES, rows->next);
	row->number_count =
	    native_read_array(r, ARCHIVE_SAMPLE_VALUES, rows->next, &first);
	row->big_count =
	    native_read_array(r, ARCHIVE_SAMPLE_BIG, rows->next, &first_big);
	if (row->number_count > RECORD_VALUES_MAX ||
	    row->big_count > RECORD_VALUES_MAX)
		return false;
	for (uint32_t k = 0; k < row->number_count; k++)
		rows->numbers[k] =
		    native_read_float(r, ARCHIVE_SAMPLE_VALUES, first + k);
	for (uint32_t k = 0; k < row->big_count; k++)
		rows->big[k] =
		    native_read_uint(r, ARCHIVE_SAMPLE_BIG, first_big + k);
	row->numbers = rows->numbers;
	row->big = rows->big;
	return true;
}

static bool
get_own(struct pull_rows *rows, struct archive_row *row)
{
	const struct native_reader *r = rows->reader;
	uint32_t i = rows->next;

	switch (rows->kind) {
	case RECORD_EVENT:
		row->source = native_read_text(r, ARCHIVE_EVENT_SOURCE, i);
		row->name = native_read_text(r, ARCHIVE_EVENT_NAME, i);
		row->key = native_read_text(r, ARCHIVE_EVENT_UUID, i);
		return get_attributes(rows, ARCHIVE_EVENT_KEYS, row);
	case RECORD_SPAN:
		row->end_ns = native_read_int(r, ARCHIVE_SPAN_END, i);
		row->name = native_read_text(r, ARCHIVE_SPAN_NAME, i);
		row->key = native_read_text(r, ARCHIVE_SPAN_CATEGORY, i);
		return get_attributes(rows, ARCHIVE_SPAN_KEYS, row);
	case RECORD_GAP:
		row->end_ns = native_read_int(r, ARCHIVE_GAP_END, i);
		row->source = native_read_text(r, ARCHIVE_GAP_CLASS, i);
		row->name = native_read_text(r, ARCHIVE_GAP_REASON, i);
		row->count = native_read_uint(r, ARCHIVE_GAP_COUNT, i);
		return true;
	case RECORD_REJECTED:
		row->name = native_read_text(r, ARCHIVE_REJECTED_REASON, i);
		row->count = native_read_uint(r, ARCHIVE_REJECTED_BYTES, i);
		row->body = native_read_text(r, ARCHIVE_REJECTED_BODY, i);
		row->key = native_read_text(r, ARCHIVE_REJECTED_HASH, i);
		return true;
	default: return get_values(rows, row);
	}
}

static bool
get_row(struct pull_rows *rows, struct archive_row *row)
{
	const struct native_reader *r = rows->reader;
	uint32_t i = rows->next;

	*row = (struct archive_row){
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
	return get_own(rows, row);
}

int
pull_rows_next(struct pull_rows *rows, struct archive_row *row, struct err *err)
{
	if (rows->next == native_read_rows(rows->reader)) {
		int got = native_read_next(rows->reader, &rows->rest, err);

		rows->next = 0;
		if (got <= 0)
			return got < 0 ? -1
				       : native_read_end(rows->reader, err);
	}
	if (!get_row(rows, row))
		return err_set(
		    err, "archive: a record has more than a record can have");
	rows->next++;
	return 1;
}
