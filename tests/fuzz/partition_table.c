/*
 * partition_table - any bytes are a table, or wrong in one sentence; every row
 * lies inside them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/partition_table.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
is_inside(struct text text, const uint8_t *data, size_t size)
{
	const char *begin = (const char *)data;

	assert(text.bytes > 0 && text.at >= begin &&
	       text.at + text.bytes <= begin + size);
	assert(text_check_name(text) == TEXT_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct partition_table table;
	struct text file = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };

	if (partition_table_parse(&table, "table", file, &err) != 0) {
		assert(err.text[0] != '\0');
		return 0;
	}
	assert(table.version > 0 && table.count <= PARTITION_TABLE_ROWS_MAX);
	for (uint32_t i = 0; i < table.count; i++) {
		is_inside(table.row[i].pattern, data, size);
		is_inside(table.row[i].endpoint, data, size);
	}
	return 0;
}
