/*
 * row_block - decode any bytes as rows of the store: row blocks, states of
 * phases, compacted pairs, statistics.  What can be decoded must survive being
 * encoded again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/row_block.h"

#include <stdlib.h>

#include "aggregator/phases/phase.h"
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

static void
try_phase(struct text value)
{
	struct buffer bytes = { NULL, 0, 0 }, again = { NULL, 0, 0 };
	struct phase_row row = { .count = 0 };

	if (phase_row_decode(&row, value, 1)) {
		phase_row_encode(&row, 0, row.count, 1, &bytes);
		if (!phase_row_decode(&row, buffer_text(&bytes), 1))
			abort();
		phase_row_encode(&row, 0, row.count, 1, &again);
		if (!text_equal(buffer_text(&bytes), buffer_text(&again)))
			abort();
		for (uint32_t i = 0; i < row.count; i++)
			try_attributes(row.at[i].id.body);
	}
	phase_row_clear(&row);
	buffer_clear(&bytes);
	buffer_clear(&again);
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
	duration_stats_mean(stats);
	duration_stats_deviation(stats, true);
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
	case 9: try_stats(value); break;
	case 10: try_attributes(value); break;
	default: try_row(value, (enum record_kind)(data[0] % RECORD_KINDS));
	}
	return 0;
}
