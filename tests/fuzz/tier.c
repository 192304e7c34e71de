/*
 * tier - any bytes as a row of a tier: every metric is read, or refused.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tiers/tier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tier_row row;
	static struct bucket buckets[TIER_BUCKETS];

	if (!tier_open(
		&row, (struct text){ (const char *)data, (uint32_t)size }))
		return 0;
	for (uint32_t m = 0; m < row.metrics; m++)
		tier_read(&row, m, buckets);
	return 0;
}
