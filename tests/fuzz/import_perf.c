/*
 * import_perf - any file is rows that an aggregator takes, bad ones, and an
 * end.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/perf.h"

#include <assert.h>

#include "tests/fuzz/import_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct import_row row;
	struct import_perf perf = { .nodes = 0 };
	struct import_file file;
	struct err err = { 0 };
	enum import_next next;
	size_t rows = 0;

	import_input_open(&file, data, size);
	do {
		err.text[0] = '\0';
		next = import_perf_next(&perf, &file, &row, &err);
		/* Each row and each complaint has taken a byte, but the set's
		 * and the last one. */
		assert(rows++ <= size + 2);
		if (next == IMPORT_LINE)
			assert(record_check(&row.record, &err) == 0 &&
			       text_check_name(row.record.node) == TEXT_OK);
		else if (next == IMPORT_TOO_LONG)
			assert(err.text[0] != '\0');
	} while (next == IMPORT_LINE || next == IMPORT_TOO_LONG);
	assert(next == IMPORT_END && file.offset == size);
	import_row_clear(&row);
	import_file_close(&file);
	return 0;
}
