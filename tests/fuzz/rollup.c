/*
 * rollup - decode any bytes as a row of a rollup: every metric is read or
 * refused.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rollup_row row;

	if (!rollup_open(
		&row, (struct text){ (const char *)data, (uint32_t)size }))
		return 0;
	for (uint32_t m = 0; m < row.metrics; m++)
		rollup_read(&row, m);
	return 0;
}
