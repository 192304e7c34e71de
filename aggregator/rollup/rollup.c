/*
 * rollup - the list of rollups.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup.h"

static const struct {
	const char *name;
	int64_t seconds;
} rollups[ROLLUPS] = { { "raw", 0 }, { "1min", 60 }, { "1h", 3600 } };

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
	enum rollup_step rollup = ROLLUP_1H;

	while (rollup > ROLLUP_RAW && step_ns % rollup_step_ns(rollup) != 0)
		rollup--;
	return rollup;
}
