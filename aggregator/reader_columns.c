/*
 * reader_columns - samples for who computes with them: many of one node and
 * set as one record, column by column (proto/wire_columns.h).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/reader_band.h"
#include "proto/wire_columns.h"

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

static void
add(struct columns *columns, const struct head_item *item,
    const struct head_body *body)
{
	uint32_t sample = columns->samples++;
	const struct record record = { .value_bytes = body->value_bytes };

	record_get_numbers(&record, columns->numbers, columns->columns);
	wire_put_cell(cell(columns, 0, sample), (uint64_t)item->time_ns);
	for (uint32_t i = 0; i < columns->columns; i++) {
		uint64_t bits;

		memcpy(&bits, &columns->numbers[i], sizeof(bits));
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

/* False: the page is full. */
static bool
begin(struct band *band, struct columns *columns, const struct head_item *item,
    const struct head_body *body)
{
	if (!put(band, columns) || !page_has_room(band->page))
		return false;
	columns->columns = body->values;
	columns->room = WIRE_CELLS_MAX / (body->values + 1);
	columns->first = *item;
	return true;
}

static bool
is_wanted(
    const struct band *band, const struct head_item *item, struct head_body *to)
{
	return (!band->again || head_compare(item, &band->mark) > 0) &&
	       page_wants_time(band->page, item->time_ns) &&
	       head_get_body(item->body, RECORD_SAMPLE, item->time_ns, to) &&
	       to->values <= RECORD_VALUES_MAX;
}

bool
band_give_columns(struct band *band)
{
	struct page *page = band->page;
	struct reader *reader = page->reader;
	struct columns *columns = reader->columns;
	struct head_item item;
	struct head_body body;

	if (columns == NULL)
		columns = reader->columns = malloc(sizeof(*columns));
	if (columns == NULL)
		abort();
	columns->samples = 0;
	while (merge_next(&reader->merge, &item)) {
		if (item.time_ns >= page->query->to_ns)
			break;
		if (!is_wanted(band, &item, &body))
			continue;
		if ((columns->samples == 0 ||
			columns->samples == columns->room ||
			columns->columns != body.values) &&
		    !begin(band, columns, &item, &body))
			return false;
		add(columns, &item, &body);
		if (page_is_through(page)) {
			put(band, columns);
			return false;
		}
	}
	return put(band, columns);
}
