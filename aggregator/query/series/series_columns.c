/*
 * series_columns - samples for computation: many samples of one node and
 * metric group in one record, column by column (proto/wire/columns.h).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/query/series/series_block.h"
#include "proto/base/memory.h"
#include "proto/wire/columns.h"

/* The current record: samples of one node and metric group with the same
 * number of values. */
struct columns {
	uint32_t columns; /* values in each sample */
	uint32_t samples, room;
	struct row_block_item first, last;
	/* Column by column, each with room for `room` samples. */
	char cells[WIRE_CELLS_MAX * WIRE_CELL_BYTES];
	double numbers[RECORD_VALUES_MAX]; /* of one sample */
};

static char *
cell(struct columns *columns, uint32_t column, uint32_t sample)
{
	size_t at = (size_t)column * columns->room + sample;

	return columns->cells + at * WIRE_CELL_BYTES;
}

/* Add a sample whose numbers are `apart` elements apart. */
static void
add(struct columns *columns, const struct row_block_item *item,
    const double *number, size_t apart)
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

/* Close the gaps between the columns and append the record.  False: the page
 * is full. */
static bool
put(struct series_block *block, struct columns *columns)
{
	size_t bytes = columns->samples * (size_t)WIRE_CELL_BYTES;
	struct record record = { .kind = RECORD_SAMPLE,
		.node = block->node,
		.source = block->track,
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
	page_set_id(block->page, &record, &columns->first);
	columns->samples = 0;
	if (!page_put(block->page, &record))
		return false;
	series_block_set_cursor(block, &columns->last);
	return true;
}

/* Prepare for a sample with `numbers` values.  False: the page is full. */
static bool
begin(struct series_block *block, struct columns *columns,
    const struct row_block_item *item, uint32_t numbers)
{
	if (columns->samples > 0 && columns->samples < columns->room &&
	    columns->columns == numbers)
		return true;
	if (!put(block, columns) || !page_has_room(block->page))
		return false;
	columns->columns = numbers;
	columns->room = WIRE_CELLS_MAX / (numbers + 1);
	columns->first = *item;
	return true;
}

static bool
is_wanted(const struct series_block *block, const struct row_block_item *item)
{
	return (!block->resumed ||
		   row_block_compare(item, &block->after) > 0) &&
	       page_wants_time(block->page, item->time_ns);
}

/* Count as examined only where the cursor can move.  False: the page is
 * full. */
static bool
append_item(struct series_block *block, const struct row_block_item *item)
{
	struct columns *columns = block->page->reader->columns;
	struct row_block_body body;
	struct record record = { .kind = RECORD_SAMPLE };

	if (!is_wanted(block, item) ||
	    !row_block_get_body(
		item->body, RECORD_SAMPLE, item->time_ns, &body) ||
	    body.values > RECORD_VALUES_MAX)
		return true;
	if (!begin(block, columns, item, body.values))
		return false;
	record.value_bytes = body.value_bytes;
	record_get_numbers(&record, columns->numbers, body.values);
	add(columns, item, columns->numbers, 1);
	return !page_examined(block->page);
}

/* Append a sample that is already split into columns. */
static bool
append_row(struct series_block *block, const struct compacted_row_rows *rows,
    uint32_t row, uint32_t numbers)
{
	struct columns *columns = block->page->reader->columns;
	struct row_block_item item;

	compacted_row_get_id(rows, row, &item);
	if (!is_wanted(block, &item))
		return true;
	if (!begin(block, columns, &item, numbers))
		return false;
	add(columns, &item, rows->number + row, rows->count);
	return !page_examined(block->page);
}

/* ---- series blocks ---- */

static void
append_merged(struct series_block *block)
{
	struct page *page = block->page;
	struct row_block_item item;

	while (merge_next(&page->reader->merge, &item) &&
	       item.time_ns < page->query->to_ns && append_item(block, &item))
		;
}

static bool
append_rows(struct series_block *block, struct compacted_row_rows *rows,
    uint32_t first, uint32_t end)
{
	uint32_t numbers = compacted_row_values(rows);
	struct row_block_item item;
	bool good = true;

	if (!compacted_row_read_ids(rows) ||
	    (!compacted_row_read_numbers(rows) &&
		!compacted_row_read_bodies(rows)))
		return true;
	for (; good && first < end; first++) {
		if (rows->number != NULL) {
			good = append_row(block, rows, first, numbers);
		} else {
			compacted_row_get(rows, first, &item);
			good = append_item(block, &item);
		}
	}
	return good;
}

static void
append_compacted(struct series_block *block,
    struct compacted_cursor *compacted_cursor, int64_t from_ns)
{
	int64_t to_ns = block->page->query->to_ns;
	struct compacted_row_rows *rows;
	uint32_t first, end;
	bool more = compacted_cursor_take_rows(
	    compacted_cursor, from_ns, &rows, &first, &end);

	while (more && rows->time_ns[first] < to_ns &&
	       append_rows(block, rows, first, end))
		more = compacted_cursor_next_rows(
		    compacted_cursor, &rows, &first, &end);
}

bool
series_block_append_columns(struct series_block *block,
    struct compacted_cursor *compacted_cursor, int64_t from_ns)
{
	struct reader *reader = block->page->reader;

	if (reader->columns == NULL)
		reader->columns = memory_alloc(sizeof(*reader->columns));
	reader->columns->samples = 0;
	if (compacted_cursor != NULL)
		append_compacted(block, compacted_cursor, from_ns);
	else
		append_merged(block);
	/* Append what was collected, even if the page has examined its
	 * maximum. */
	return put(block, reader->columns) && !block->page->full;
}
