/*
 * tier - which tiers there are, and marks in place of them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tiers/tier.h"

static const struct {
	const char *name;
	int64_t seconds;
} tiers[TIERS] = { { "raw", 0 }, { "10s", 10 }, { "1min", 60 },
	{ "10min", 600 } };

int64_t
tier_step_ns(enum tier_step tier)
{
	return tiers[tier].seconds * 1000000000;
}

const char *
tier_name(enum tier_step tier)
{
	return tiers[tier].name;
}

enum tier_step
tier_of_step(int64_t step_ns)
{
	enum tier_step tier = TIER_10MIN;

	while (tier > TIER_RAW && step_ns % tier_step_ns(tier) != 0)
		tier--;
	return tier;
}

bool
tier_is_mark(struct text value)
{
	return value.bytes == TIER_MARK_BYTES &&
	       (memcmp(value.at, TIER_UNKNOWN, TIER_MARK_BYTES) == 0 ||
		   tier_is_samples(value));
}

bool
tier_is_samples(struct text value)
{
	return value.bytes == TIER_MARK_BYTES &&
	       memcmp(value.at, TIER_SAMPLES, TIER_MARK_BYTES) == 0;
}
