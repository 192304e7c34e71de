/*
 * wire_columns - samples as columns of doubles.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/columns.h"

bool
wire_columns_init(struct wire_columns *columns, const struct record *record)
{
	uint64_t samples = record->count, cells;

	cells = record->value_bytes.bytes / WIRE_CELL_BYTES;
	if (record->kind != RECORD_SAMPLE || record->name.bytes == 0 ||
	    record->values > 0 || samples == 0 || cells > WIRE_CELLS_MAX ||
	    record->value_bytes.bytes % WIRE_CELL_BYTES != 0 ||
	    samples > cells || cells % samples != 0)
		return false;
	*columns = (struct wire_columns){ .at = record->value_bytes.at,
		.samples = (uint32_t)samples,
		.columns = (uint32_t)(cells / samples - 1) };
	return true;
}
