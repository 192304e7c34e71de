/*
 * scanner_sums - any text is lines, which are written as they were read, and
 * a rest that is none.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>

#include "proto/record/scanner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = { (const char *)data, (uint32_t)size };
	struct scanner_sum sum, again;

	while (scanner_next_sum(&rest, &sum)) {
		char line[SCANNER_LINE_BYTES];
		struct text written = { line, scanner_put_sum(line, &sum) };

		assert(scanner_next_sum(&written, &again));
		assert(written.bytes == 0 &&
		       again.is_counter == sum.is_counter &&
		       again.count == sum.count && again.value == sum.value);
		assert(
		    again.sum_ns <= sum.sum_ns && again.sum_ns >= sum.sum_ns);
		assert(text_equal(again.name, sum.name));
	}
	return 0;
}
