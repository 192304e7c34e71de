/*
 * budget - how many columns an agent still takes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/budget.h"

#include <string.h>

bool
statsd_budget_take(struct statsd_budget *budget, uint32_t columns)
{
	if (budget->columns + columns > STATSD_COLUMNS_MAX)
		return false;
	budget->columns += columns;
	return true;
}

void
statsd_budget_retire(
    struct statsd_budget *budget, uint32_t columns, int64_t now_ns)
{
	budget->retired[budget->retired_count].at_ns = now_ns;
	budget->retired[budget->retired_count++].columns = columns;
}

void
statsd_budget_expire(struct statsd_budget *budget, int64_t now_ns)
{
	uint32_t gone = 0;

	while (gone < budget->retired_count &&
	       now_ns - budget->retired[gone].at_ns > STATSD_DEFINED_NS)
		budget->columns -= budget->retired[gone++].columns;
	budget->retired_count -= gone;
	memmove(budget->retired, budget->retired + gone,
	    budget->retired_count * sizeof(*budget->retired));
}

bool
statsd_budget_is_short(const struct statsd_budget *budget)
{
	return budget->columns > STATSD_COLUMNS_MAX / 2;
}
