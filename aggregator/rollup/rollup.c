/*
 * rollup - the list of rollups, and the marks that replace them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup.h"

static const struct {
	const char *name;
	int64_t seconds;
} rollups[ROLLUPS] = { { "raw", 0 }, { "10s", 10 }, { "1min", 60 },
	{ "10min", 600 } };

int64_t
rollup_step_ns(enum rollup_step rollup)
{
	return rollups[rollup].seconds * 1000000000;
}

const char *
rollup_name(enum rollup_step rollup)
{
	return rollups[rollup].name;
}

enum rollup_step
rollup_of_step(int64_t step_ns)
{
	enum rollup_step rollup = ROLLUP_10MIN;

	while (rollup > ROLLUP_RAW && step_ns % rollup_step_ns(rollup) != 0)
		rollup--;
	return rollup;
}

bool
rollup_is_mark(struct text value)
{
	return value.bytes == ROLLUP_MARK_BYTES &&
	       (memcmp(value.at, ROLLUP_UNKNOWN, ROLLUP_MARK_BYTES) == 0 ||
		   rollup_is_samples(value) || rollup_is_coarser(value));
}

bool
rollup_is_samples(struct text value)
{
	return value.bytes == ROLLUP_MARK_BYTES &&
	       memcmp(value.at, ROLLUP_SAMPLES, ROLLUP_MARK_BYTES) == 0;
}

bool
rollup_is_coarser(struct text value)
{
	return value.bytes == ROLLUP_MARK_BYTES &&
	       memcmp(value.at, ROLLUP_COARSER, ROLLUP_MARK_BYTES) == 0;
}
