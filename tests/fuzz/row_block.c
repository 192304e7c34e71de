/*
 * row_block - decode any bytes as rows of the store: row blocks, parts of
 * phases and their lists, statistics, the last records of nodes.  What can be
 * decoded must survive being encoded again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/row_block.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/phases/part_list.h"
#include "aggregator/phases/part_row.h"
#include "aggregator/tables/latest.h"
#include "proto/record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_attributes(struct text rest)
{
	struct row_block_attribute attribute;
	struct value value;

	row_block_attribute_count(&rest);
	while (row_block_next_attribute(&rest, &attribute)) {
		struct text bytes = attribute.value;

		/* As the reader does: it relies on the bounds found here. */
		if (!record_next_value(&bytes, &value) || bytes.bytes != 0)
			abort();
	}
}

static void
try_row(struct text value, enum record_kind kind)
{
	struct row_block_reader rows;
	struct row_block_item item;
	struct row_block_body body;

	if (!row_block_open(&rows, value, 0))
		return;
	while (row_block_next(&rows, &item)) {
		if (row_block_get_body(item.body, kind, item.time_ns, &body))
			try_attributes(body.attributes);
	}
}

/* Write the events of a row again, and read that: all of it is there. */
static void
write_again(const struct part_row *row, bool columns)
{
	static struct compacted_row_writer *writer;
	static struct part_row back;
	struct part_row_item *items = calloc(row->count, sizeof(*items));
	struct buffer bytes = { NULL, 0, 0 };
	uint32_t count = row->count;

	if (items == NULL)
		abort();
	for (uint32_t s = 0; s < row->states; s++)
		for (uint32_t i = row->state[s].from; i < row->state[s].to; i++)
			items[i] =
			    (struct part_row_item){ row->state[s].key_hash,
				    row->state[s].scope, row->state[s].key,
				    row->at[i] };
	if (writer == NULL)
		writer = compacted_row_writer_new();
	if (columns)
		part_row_put_columns(&bytes, writer, items, count);
	else
		count = part_row_put_plain(&bytes, items, count);
	if (!part_row_open(&back, buffer_text(&bytes)) ||
	    !part_row_complete(&back) || back.count != count)
		abort();
	for (uint32_t i = 0; i < count; i++)
		if (phase_compare(&back.at[i], &row->at[i]) != 0 ||
		    back.at[i].node != row->at[i].node ||
		    back.at[i].measured != row->at[i].measured ||
		    back.at[i].measured_ns != row->at[i].measured_ns ||
		    !text_equal(back.at[i].id.body, row->at[i].id.body))
			abort();
	free(items);
	buffer_clear(&bytes);
}

/* Columns have indexes of 30 bits, and the states of a key once. */
static bool
suits_columns(const struct part_row *row)
{
	for (uint32_t i = 0; i < row->count; i++)
		if (row->at[i].id.index >> 30 != 0)
			return false;
	for (uint32_t s = 1; s < row->states; s++)
		if (row->state[s].key_hash == row->state[s - 1].key_hash &&
		    (row->state[s].scope == row->state[s - 1].scope ||
			!text_equal(row->state[s].key, row->state[s - 1].key)))
			return false;
	return row->count <= PART_ROW_COLUMNS;
}

static void
try_phase(struct text value)
{
	static struct part_row row;

	if (!part_row_open(&row, value) || !part_row_complete(&row))
		return;
	for (uint32_t i = 0; i < row.count; i++)
		try_attributes(row.at[i].id.body);
	write_again(&row, false);
	if (suits_columns(&row))
		write_again(&row, true);
}

static void
try_list(struct text value)
{
	struct part_list list = { .at = NULL };

	part_list_decode(&list, value);
	part_list_clear(&list);
}

static void
try_latest(struct text value)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct latest_row row, back;

	if (latest_decode(&row, value)) {
		latest_encode(&row, &bytes);
		if (!latest_decode(&back, buffer_text(&bytes)))
			abort();
	} else if (row.has != 0) {
		abort();
	} else {
		back = row;
	}
	if (back.has != row.has)
		abort();
	for (unsigned i = 0; i < LATEST_NODES; i++)
		if (memcmp(&back.at[i], &row.at[i], sizeof(row.at[i])) != 0)
			abort();
	buffer_clear(&bytes);
}

static void
try_stats(struct text value)
{
	static struct duration_stats *stats;
	struct varint_reader u = varint_reader_of(value);

	if (stats == NULL) {
		stats = malloc(sizeof(*stats));
		if (stats == NULL)
			abort();
		duration_stats_init(stats);
	}
	duration_stats_reset(stats);
	duration_stats_decode(stats, &u);
	duration_sums_mean(&stats->sums);
	duration_sums_deviation(&stats->sums, true);
	duration_stats_quantile(stats, 99);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text value = { (const char *)data + 1, (uint32_t)size - 1 };

	if (size < 1)
		return 0;
	switch (data[0]) {
	case 0:
	case 8: try_phase(value); break;
	case 11: try_list(value); break;
	case 9: try_stats(value); break;
	case 10: try_attributes(value); break;
	case 12: try_latest(value); break;
	default: try_row(value, (enum record_kind)(data[0] % RECORD_KINDS));
	}
	return 0;
}
