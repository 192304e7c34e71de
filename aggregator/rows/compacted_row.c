/*
 * compacted_row - reading rows from the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_row.h"

#include <stdlib.h>

#include "aggregator/rows/body_template.h"
#include "proto/record/counter_rate.h"

bool
compacted_row_get_header(struct text value, struct compacted_row_header *header)
{
	struct varint_reader u = varint_reader_of(value);

	header->rows = varint_get_max(&u, COMPACTED_ROW_ROWS_MAX);
	header->node = varint_get_u32(&u);
	header->track = varint_get_u32(&u);
	header->least_ns = varint_unzigzag(varint_get(&u));
	header->most_ns = varint_undelta(header->least_ns, varint_get(&u));
	header->first_ns = varint_undelta(header->least_ns, varint_get(&u));
	header->chunk = varint_get_bytes(&u, varint_left(&u));
	return !u.bad && header->rows > 0;
}

void
compacted_row_rows_clear(struct compacted_row_rows *rows)
{
	chunk_reader_free(&rows->chunk);
	buffer_clear(&rows->value);
	buffer_clear(&rows->series_blocks_room);
	buffer_clear(&rows->times);
	buffer_clear(&rows->rows);
	buffer_clear(&rows->batches);
	buffer_clear(&rows->bodies);
	buffer_clear(&rows->offsets);
	buffer_clear(&rows->values);
	buffer_clear(&rows->columns);
	buffer_clear(&rows->numbers);
	for (uint32_t i = 0; i < COMPACTED_ROW_KEPT; i++)
		buffer_clear(&rows->kept[i].values);
	*rows = (struct compacted_row_rows){ .count = 0 };
}

void *
compacted_row_room(struct buffer *buffer, size_t count, size_t bytes)
{
	buffer->bytes = 0;
	return buffer_need(buffer, (count + 1) * bytes);
}

bool
compacted_row_set_damaged(struct compacted_row_rows *rows)
{
	rows->bad = true;
	return false;
}

/* ---- series blocks ---- */

static bool
read_series_blocks(struct compacted_row_rows *rows)
{
	uint32_t series_blocks =
		     chunk_count(rows->chunk, BODY_TEMPLATE_SERIES_BLOCK_NODE),
		 next = 0;
	int64_t *columns;

	if (series_blocks == 0 || series_blocks > rows->count)
		return false;
	columns = compacted_row_room(
	    &rows->columns, 3 * (size_t)series_blocks, sizeof(int64_t));
	for (uint32_t c = BODY_TEMPLATE_SERIES_BLOCK_NODE;
	     c <= BODY_TEMPLATE_SERIES_BLOCK_ROWS; c++)
		if (chunk_count(rows->chunk, c) != series_blocks ||
		    chunk_get_int(rows->chunk, c,
			columns + c * series_blocks) != CHUNK_OK)
			return false;
	rows->series_blocks = series_blocks;
	rows->series_block = compacted_row_room(&rows->series_blocks_room,
	    series_blocks, sizeof(struct compacted_row_series_block));
	for (uint32_t i = 0; i < series_blocks; i++) {
		const int64_t *in = columns + i;
		int64_t n = in[BODY_TEMPLATE_SERIES_BLOCK_ROWS * series_blocks];

		if (in[0] < 0 || in[0] > UINT32_MAX || in[series_blocks] < 0 ||
		    in[series_blocks] > UINT32_MAX || n < 1 ||
		    n > (int64_t)(rows->count - next))
			return false;
		rows->series_block[i] =
		    (struct compacted_row_series_block){ (uint32_t)in[0],
			    (uint32_t)in[series_blocks], next,
			    next + (uint32_t)n };
		next += (uint32_t)n;
	}
	return next == rows->count;
}

/* All columns before those of the fields must exist and have the right
 * counts. */
static bool
open_columns(struct compacted_row_rows *rows)
{
	struct chunk_reader *chunk = rows->chunk;
	uint32_t batches;

	if (chunk_columns(chunk) < BODY_TEMPLATE_COLUMNS)
		return false;
	batches = chunk_count(chunk, BODY_TEMPLATE_BATCH_STREAM);
	return chunk_count(chunk, BODY_TEMPLATE_TIME) == rows->count &&
	       batches > 0 && batches <= rows->count &&
	       chunk_count(chunk, BODY_TEMPLATE_BATCH_SEQ) == batches &&
	       chunk_count(chunk, BODY_TEMPLATE_BATCH_RECEIVE) == batches &&
	       chunk_count(chunk, BODY_TEMPLATE_BATCH) == rows->count &&
	       chunk_count(chunk, BODY_TEMPLATE_INDEX) == rows->count &&
	       chunk_count(chunk, BODY_TEMPLATE_ORDER) == 1 &&
	       chunk_count(chunk, BODY_TEMPLATE_NUMBER) == rows->count &&
	       chunk_count(chunk, BODY_TEMPLATE_TEXT) <= rows->count;
}

bool
compacted_row_open(struct compacted_row_rows *rows, struct text value)
{
	rows->has_times = rows->has_ids = rows->has_bodies = rows->bad = false;
	rows->number = NULL;
	for (uint32_t i = 0; i < COMPACTED_ROW_KEPT; i++)
		rows->kept[i].column = 0;
	rows->count = rows->series_blocks = 0;
	if (rows->chunk == NULL)
		rows->chunk = chunk_reader_new();
	/* Texts point into the chunk, which must outlive the transaction: copy
	 * it. */
	rows->value.bytes = 0;
	buffer_put(&rows->value, value.at, value.bytes);
	if (!compacted_row_get_header(buffer_text(&rows->value), &rows->header))
		return compacted_row_set_damaged(rows);
	rows->count = (uint32_t)rows->header.rows;
	if (chunk_open(rows->chunk, rows->header.chunk) != CHUNK_OK ||
	    !open_columns(rows) || !read_series_blocks(rows))
		return compacted_row_set_damaged(rows);
	return true;
}

/* ---- times and identities ---- */

/* The identity of a row; the columns are in `rows`. */
struct identity {
	uint32_t batch, index;
};

struct time_row {
	uint64_t since; /* their minimum */
	uint32_t row;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort; it is stable. */
static void
sort_by_digit(const struct time_row *from, struct time_row *to, uint32_t count,
    unsigned shift)
{
	uint32_t field[DIGITS] = { 0 }, next = 0, i;

	for (i = 0; i < count; i++)
		field[from[i].since >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		uint32_t rows = field[i];

		field[i] = next;
		next += rows;
	}
	for (i = 0; i < count; i++)
		to[field[from[i].since >> shift & (DIGITS - 1)]++] = from[i];
}

/* The row numbers, ordered by (time, row): a view. */
static const struct time_row *
rows_by_time(struct compacted_row_rows *rows)
{
	uint32_t count = rows->count, i;
	struct time_row *a =
	    compacted_row_room(&rows->columns, 2 * (size_t)count, sizeof(*a));
	struct time_row *b = a + count, *swap;
	int64_t least = rows->time_ns[0];
	uint64_t all = 0;

	for (i = 1; i < count; i++)
		if (rows->time_ns[i] < least)
			least = rows->time_ns[i];
	for (i = 0; i < count; i++) {
		a[i].since = (uint64_t)rows->time_ns[i] - (uint64_t)least;
		a[i].row = i;
		all |= a[i].since;
	}
	for (unsigned shift = 0; shift < 64 && all >> shift != 0;
	     shift += DIGIT_BITS) {
		sort_by_digit(a, b, count, shift);
		swap = a;
		a = b;
		b = swap;
	}
	return a;
}

static bool
read_batches(struct compacted_row_rows *rows)
{
	uint32_t batches = chunk_count(rows->chunk, BODY_TEMPLATE_BATCH_STREAM);
	int64_t *to = compacted_row_room(
	    &rows->batches, 3 * (size_t)batches, sizeof(int64_t));

	for (uint32_t c = BODY_TEMPLATE_BATCH_STREAM;
	     c <= BODY_TEMPLATE_BATCH_RECEIVE; c++)
		if (chunk_get_int(rows->chunk, c,
			to + (c - BODY_TEMPLATE_BATCH_STREAM) * batches) !=
		    CHUNK_OK)
			return false;
	for (uint32_t i = 0; i < batches; i++)
		if (to[i] < 0 || to[i] > UINT32_MAX)
			return false;
	return true;
}

static bool
read_identities(struct compacted_row_rows *rows)
{
	uint32_t count = rows->count;
	uint32_t batches = chunk_count(rows->chunk, BODY_TEMPLATE_BATCH_STREAM);
	struct identity *to =
	    compacted_row_room(&rows->rows, count, sizeof(struct identity));
	const struct time_row *order = NULL;
	int64_t by_time, *batch, *index;

	batch = compacted_row_room(
	    &rows->values, 2 * (size_t)count, sizeof(int64_t));
	index = batch + count;
	if (chunk_get_int(rows->chunk, BODY_TEMPLATE_ORDER, &by_time) !=
		CHUNK_OK ||
	    by_time < 0 || by_time > 1 ||
	    chunk_get_int(rows->chunk, BODY_TEMPLATE_BATCH, batch) !=
		CHUNK_OK ||
	    chunk_get_int(rows->chunk, BODY_TEMPLATE_INDEX, index) != CHUNK_OK)
		return false;
	if (by_time != 0)
		order = rows_by_time(rows);
	for (uint32_t i = 0; i < count; i++) {
		if (batch[i] < 0 || batch[i] >= batches || index[i] < 0 ||
		    index[i] > UINT32_MAX)
			return false;
		to[order != NULL ? order[i].row : i] =
		    (struct identity){ (uint32_t)batch[i], (uint32_t)index[i] };
	}
	return true;
}

bool
compacted_row_read_times(struct compacted_row_rows *rows)
{
	if (rows->bad || rows->has_times)
		return !rows->bad;
	rows->time_ns =
	    compacted_row_room(&rows->times, rows->count, sizeof(int64_t));
	if (chunk_get_int(rows->chunk, BODY_TEMPLATE_TIME, rows->time_ns) !=
	    CHUNK_OK)
		return compacted_row_set_damaged(rows);
	rows->has_times = true;
	return true;
}

bool
compacted_row_read_ids(struct compacted_row_rows *rows)
{
	if (!compacted_row_read_times(rows) || rows->has_ids)
		return !rows->bad;
	if (!read_batches(rows) || !read_identities(rows))
		return compacted_row_set_damaged(rows);
	rows->has_ids = true;
	return true;
}

/* ---- rows ---- */

void
compacted_row_get_id(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item)
{
	const struct identity *id = (const void *)rows->rows.at;
	const int64_t *batch = (const void *)rows->batches.at;
	uint32_t batches = chunk_count(rows->chunk, BODY_TEMPLATE_BATCH_STREAM);

	batch += id[i].batch;
	item->time_ns = rows->time_ns[i];
	item->stream = (uint32_t)batch[0];
	item->seq = (uint64_t)batch[batches];
	item->receive_ns = batch[2 * (size_t)batches];
	item->index = id[i].index;
	item->body = (struct text){ NULL, 0 };
}

void
compacted_row_get(const struct compacted_row_rows *rows, uint32_t i,
    struct row_block_item *item)
{
	const uint32_t *offset = (const void *)rows->offsets.at;

	compacted_row_get_id(rows, i, item);
	item->body = (struct text){ (const char *)rows->bodies.at + offset[i],
		offset[i + 1] - offset[i] };
}

uint32_t
compacted_row_values(struct compacted_row_rows *rows)
{
	uint32_t columns = chunk_columns(rows->chunk), i;

	if (rows->bad || chunk_count(rows->chunk, BODY_TEMPLATE_TEXT) != 1)
		return 0;
	for (i = BODY_TEMPLATE_COLUMNS; i < columns; i++)
		if (chunk_type(rows->chunk, i) != CHUNK_VALUE)
			return 0;
	return columns - BODY_TEMPLATE_COLUMNS;
}

bool
compacted_row_read_value(struct compacted_row_rows *rows, uint32_t i,
    struct value *to, uint32_t count)
{
	uint32_t column = BODY_TEMPLATE_COLUMNS + i;

	if (rows->bad || chunk_count(rows->chunk, BODY_TEMPLATE_TEXT) != 1 ||
	    column >= chunk_columns(rows->chunk) ||
	    chunk_type(rows->chunk, column) != CHUNK_VALUE ||
	    chunk_count(rows->chunk, column) != rows->count ||
	    count < rows->count)
		return false;
	return chunk_get_value(rows->chunk, column, to) == CHUNK_OK;
}

const struct value *
compacted_row_column(struct compacted_row_rows *rows, uint32_t i)
{
	uint32_t column = BODY_TEMPLATE_COLUMNS + i, n, slots;
	size_t bytes = ((size_t)rows->count + 1) * sizeof(struct value);
	struct value *values;

	for (n = 0; n < COMPACTED_ROW_KEPT; n++)
		if (rows->kept[n].column == column)
			return (const void *)rows->kept[n].values.at;
	slots = (uint32_t)(COMPACTED_ROW_KEPT_BYTES / bytes);
	slots = slots < 2                    ? 2
		: slots > COMPACTED_ROW_KEPT ? COMPACTED_ROW_KEPT
					     : slots;
	n = rows->kept_next++ % slots;
	rows->kept[n].column = 0;
	values = compacted_row_room(
	    &rows->kept[n].values, rows->count, sizeof(*values));
	if (!compacted_row_read_value(rows, i, values, rows->count))
		return NULL;
	rows->kept[n].column = column;
	return values;
}

bool
compacted_row_read_numbers(struct compacted_row_rows *rows)
{
	uint32_t columns = compacted_row_values(rows), c, i;
	size_t cells = (size_t)columns * rows->count;
	struct value *values;
	double *number;

	if (rows->number != NULL)
		return true;
	if (columns == 0 || columns > RECORD_VALUES_MAX ||
	    cells * sizeof(*number) > COMPACTED_ROW_ROOM_BYTES)
		return false;
	values =
	    compacted_row_room(&rows->values, rows->count, sizeof(*values));
	number = compacted_row_room(&rows->numbers, cells, sizeof(*number));
	for (c = 0; c < columns; c++) {
		if (!compacted_row_read_value(rows, c, values, rows->count))
			return false;
		for (i = 0; i < rows->count; i++)
			*number++ = counter_rate_number(&values[i]);
	}
	rows->number = (const void *)rows->numbers.at;
	return true;
}
