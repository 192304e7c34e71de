/*
 * budget - how many columns an agent still takes.
 *
 * It counts those of the groups that were defined in the last hour, also those
 * that are in use no more (agents/accept/series_limit.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_STATSD_BUDGET_H
#define AGENTS_RECEIVER_STATSD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/accept/series_limit.h"
#include "proto/os/clock.h"

/* How long the agent counts a definition, and a bit. */
#define STATSD_DEFINED_NS (3660 * NS_PER_SECOND)

enum { STATSD_COLUMNS_MAX = SERIES_LIMIT_ORIGIN };

/* Zeroed: nothing is defined. */
struct statsd_budget {
	uint32_t columns; /* with those below */
	/* Groups that are no longer in use, in order of time. */
	struct {
		int64_t at_ns;
		uint32_t columns;
	} retired[STATSD_COLUMNS_MAX];
	uint32_t retired_count;
};

/* Does the agent take these, too?  Then they count. */
bool statsd_budget_take(struct statsd_budget *budget, uint32_t columns);
/* A group of these columns, which count, is in use no more. */
void statsd_budget_retire(
    struct statsd_budget *budget, uint32_t columns, int64_t now_ns);
/* Forget what the agent has forgotten. */
void statsd_budget_expire(struct statsd_budget *budget, int64_t now_ns);

/* Is more than half of it in use? */
bool statsd_budget_is_short(const struct statsd_budget *budget);

#endif
