/*
 * reader_columns - samples for who computes with them: many of one node and
 * set as one record, column by column (proto/wire/columns.h).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/query/band.h"
#include "proto/base/memory.h"
#include "proto/wire/columns.h"

/* The record at hand: samples of one node and set with as many numbers. */
struct columns {
	uint32_t columns; /* of numbers */
	uint32_t samples, room;
	struct head_item first, last;
	/* Column after column, each with room for `room`. */
	char cells[WIRE_CELLS_MAX * WIRE_CELL_BYTES];
	double numbers[RECORD_VALUES_MAX]; /* of one sample */
};

static char *
cell(struct columns *columns, uint32_t column, uint32_t sample)
{
	size_t at = (size_t)column * columns->room + sample;

	return columns->cells + at * WIRE_CELL_BYTES;
}

/* A sample, whose numbers are `apart`. */
static void
add(struct columns *columns, const struct head_item *item, const double *number,
    size_t apart)
{
	uint32_t sample = columns->samples++;

	wire_put_cell(cell(columns, 0, sample), (uint64_t)item->time_ns);
	for (uint32_t i = 0; i < columns->columns; i++) {
		uint64_t bits;

		memcpy(&bits, &number[i * apart], sizeof(bits));
		wire_put_cell(cell(columns, i + 1, sample), bits);
	}
	columns->last = *item;
}

/* The columns close up, and are the record.  False: the page is full. */
static bool
put(struct band *band, struct columns *columns)
{
	size_t bytes = columns->samples * (size_t)WIRE_CELL_BYTES;
	struct record record = { .kind = RECORD_SAMPLE,
		.node = band->node,
		.source = band->track,
		.name = text_of("*"),
		.key = text_of("raw"),
		.count = columns->samples };

	if (columns->samples == 0)
		return true;
	for (uint32_t i = 1; i <= columns->columns; i++)
		memmove(columns->cells + i * bytes, cell(columns, i, 0), bytes);
	record.time_ns = columns->first.time_ns;
	record.end_ns = columns->last.time_ns;
	record.value_bytes = (struct text){ columns->cells,
		(uint32_t)((columns->columns + 1) * bytes) };
	page_set_id(band->page, &record, &columns->first);
	columns->samples = 0;
	if (!page_put(band->page, &record))
		return false;
	band_set_mark(band, &columns->last);
	return true;
}

/* The next sample has so many numbers.  False: the page is full. */
static bool
begin(struct band *band, struct columns *columns, const struct head_item *item,
    uint32_t numbers)
{
	if (columns->samples > 0 && columns->samples < columns->room &&
	    columns->columns == numbers)
		return true;
	if (!put(band, columns) || !page_has_room(band->page))
		return false;
	columns->columns = numbers;
	columns->room = WIRE_CELLS_MAX / (numbers + 1);
	columns->first = *item;
	return true;
}

static bool
is_wanted(const struct band *band, const struct head_item *item)
{
	return (!band->again || head_compare(item, &band->mark) > 0) &&
	       page_wants_time(band->page, item->time_ns);
}

/* Looks are counted where the mark will move.  False: the page is full. */
static bool
give_item(struct band *band, const struct head_item *item)
{
	struct columns *columns = band->page->reader->columns;
	struct head_body body;
	struct record record = { .kind = RECORD_SAMPLE };

	if (!is_wanted(band, item) ||
	    !head_get_body(item->body, RECORD_SAMPLE, item->time_ns, &body) ||
	    body.values > RECORD_VALUES_MAX)
		return true;
	if (!begin(band, columns, item, body.values))
		return false;
	record.value_bytes = body.value_bytes;
	record_get_numbers(&record, columns->numbers, body.values);
	add(columns, item, columns->numbers, 1);
	return !page_is_through(band->page);
}

/* One that was taken apart when it was sealed. */
static bool
give_row(struct band *band, const struct sealed_row_rows *rows, uint32_t row,
    uint32_t numbers)
{
	struct columns *columns = band->page->reader->columns;
	struct head_item item;

	sealed_row_get_id(rows, row, &item);
	if (!is_wanted(band, &item))
		return true;
	if (!begin(band, columns, &item, numbers))
		return false;
	add(columns, &item, rows->number + row, rows->count);
	return !page_is_through(band->page);
}

/* ---- bands ---- */

static void
give_merged(struct band *band)
{
	struct page *page = band->page;
	struct head_item item;

	while (merge_next(&page->reader->merge, &item) &&
	       item.time_ns < page->query->to_ns && give_item(band, &item))
		;
}

static bool
give_rows(struct band *band, struct sealed_row_rows *rows, uint32_t first,
    uint32_t end)
{
	uint32_t numbers = sealed_row_values(rows);
	struct head_item item;
	bool good = true;

	if (!sealed_row_read_numbers(rows) && !sealed_row_read_bodies(rows))
		return true;
	for (; good && first < end; first++) {
		if (rows->number != NULL) {
			good = give_row(band, rows, first, numbers);
		} else {
			sealed_row_get(rows, first, &item);
			good = give_item(band, &item);
		}
	}
	return good;
}

static void
give_sealed(
    struct band *band, struct sealed_cursor *sealed_cursor, int64_t from_ns)
{
	int64_t to_ns = band->page->query->to_ns;
	struct sealed_row_rows *rows;
	uint32_t first, end;
	bool more = sealed_cursor_take_rows(
	    sealed_cursor, from_ns, &rows, &first, &end);

	while (more && rows->time_ns[first] < to_ns &&
	       give_rows(band, rows, first, end))
		more =
		    sealed_cursor_next_rows(sealed_cursor, &rows, &first, &end);
}

bool
band_give_columns(
    struct band *band, struct sealed_cursor *sealed_cursor, int64_t from_ns)
{
	struct reader *reader = band->page->reader;

	if (reader->columns == NULL)
		reader->columns = memory_alloc(sizeof(*reader->columns));
	reader->columns->samples = 0;
	if (sealed_cursor != NULL)
		give_sealed(band, sealed_cursor, from_ns);
	else
		give_merged(band);
	/* Also what was gathered when the page had its looks. */
	return put(band, reader->columns) && !band->page->full;
}
