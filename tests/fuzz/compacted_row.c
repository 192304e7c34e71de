/*
 * compacted_row - decode any bytes as compacted rows: what can be decoded must
 * survive being compacted again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_row.h"

#include <math.h>

#include "proto/record/counter_rate.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct compacted_row_rows one, two;
static struct compacted_row_item items[COMPACTED_ROW_ROWS_MAX];

static void
take_all(void)
{
	for (uint32_t b = 0; b < one.series_blocks; b++) {
		for (uint32_t i = one.series_block[b].from;
		     i < one.series_block[b].to; i++) {
			items[i].node = one.series_block[b].node;
			items[i].track = one.series_block[b].track;
			compacted_row_get(&one, i, &items[i].record);
		}
	}
}

static void
expect_back(struct text value)
{
	struct row_block_item item;

	MUST(
	    compacted_row_open(&two, value) && compacted_row_read_bodies(&two));
	MUST(two.count == one.count);
	for (uint32_t i = 0; i < two.count; i++) {
		compacted_row_get(&two, i, &item);
		MUST(row_block_compare(&item, &items[i].record) == 0);
		MUST(item.receive_ns == items[i].record.receive_ns);
		MUST(text_equal(item.body, items[i].record.body));
	}
}

/* All numbers at once equal those column by column. */
static void
read_numbers(void)
{
	static struct value column[COMPACTED_ROW_ROWS_MAX];
	uint32_t columns = compacted_row_values(&one);
	bool all = compacted_row_read_numbers(&one);

	for (uint32_t c = 0; c < columns && c < 4; c++) {
		bool good =
		    compacted_row_read_value(&one, c, column, one.count);

		MUST(good || !all);
		for (uint32_t i = 0; all && i < one.count; i++) {
			double a = one.number[(size_t)c * one.count + i];
			double b = counter_rate_number(&column[i]);

			MUST(a == b || (isnan(a) && isnan(b)));
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct compacted_row_writer *writer;
	struct text value = { (const char *)data + 1, (uint32_t)size - 1 };
	struct row_block_body body;

	if (writer == NULL)
		writer = compacted_row_writer_new();
	if (size < 1 || !compacted_row_open(&one, value))
		return 0;
	read_numbers();
	if (!compacted_row_read_bodies(&one))
		return 0;
	take_all();
	for (uint32_t i = 0; i < one.count; i++)
		row_block_get_body(items[i].record.body,
		    (enum record_kind)(data[0] % RECORD_KINDS),
		    items[i].record.time_ns, &body);
	/* Our writer would have split a larger chunk. */
	if (one.bodies.bytes <= COMPACTED_ROW_BYTES_MAX)
		expect_back(compacted_row_write(writer,
		    (enum record_kind)(data[0] % RECORD_KINDS), items,
		    one.count));
	return 0;
}
