/*
 * run_order - what the rows of runs can be sorted by.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/run_order.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/runs/run_tally.h"
#include "proto/base/memory.h"

/* The first columns. */
enum { RUN, GROUP, STEPS, EVENTS = STEPS, ROLES };

int
run_order_find(struct order *order, const struct runs *runs,
    enum runs_rows_what what, struct err *err)
{
	bool deltas = what != RUNS_ITERATIONS;
	uint32_t names = deltas ? runs->step_count : runs->event_count;
	uint32_t first = deltas ? STEPS : ROLES;
	const char *columns[ROLES + RUN_ROLES_MAX + RUN_STEPS_MAX + 1] = {
		"run", "group", deltas ? NULL : "events"
	};
	char *copies[RUN_ROLES_MAX + RUN_STEPS_MAX];
	int rc;

	for (uint32_t i = 0; i < names; i++)
		columns[first + i] = copies[i] =
		    memory_text(deltas ? runs->steps[i].name : runs->events[i]);
	rc = order_find(order, columns, err);
	for (uint32_t i = 0; i < names; i++)
		free(copies[i]);
	return rc;
}

/* NaN: the run does not have the step. */
static double
number_of(const struct run_order *order, const struct runs_run *run)
{
	struct run_tallies tallies;
	int64_t ns;

	if (order->what != RUNS_ITERATIONS)
		return runs_total(run,
			   &order->runs->steps[order->column - STEPS],
			   order->clock, &ns)
			   ? (double)ns
			   : NAN;
	run_tally(&tallies, order->runs, run);
	return (double)(order->column == EVENTS
			    ? tallies.events
			    : tallies.at[order->column - ROLES].count);
}

struct order_key
run_order_key(const struct run_order *order, const struct runs_run *run)
{
	struct order_key key = { .is_text = order->column <= GROUP,
		.text = order->column == GROUP ? run->group : run->id };

	if (!key.is_text)
		key.number = number_of(order, run);
	return key;
}
