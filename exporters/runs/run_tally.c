/*
 * run_tally - how many events of each name a run has.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/run_tally.h"

static void
add(struct run_tallies *tallies, struct text name, uint64_t count)
{
	tallies->at[tallies->count++] = (struct run_tally){ name, count };
	tallies->events += count;
}

void
run_tally(struct run_tallies *tallies, const struct runs *runs,
    const struct runs_run *run)
{
	const struct run_events *events = &run->events;
	uint64_t unnamed = events->overflow;

	tallies->count = 0;
	tallies->events = 0;
	for (uint32_t i = 0; i < runs->event_count; i++)
		add(tallies, runs->events[i], runs_count(runs, run, i));
	tallies->roles = tallies->count;
	for (uint32_t i = 0; i < events->others; i++) {
		struct text name =
		    runs_other_name(runs, events->other[i].event);

		if (text_equal(name, text_of(RUNS_OTHERS)))
			unnamed += events->other[i].count;
		else if (name.bytes > 0)
			add(tallies, name, events->other[i].count);
	}
	if (unnamed > 0)
		add(tallies, text_of(RUNS_OTHERS), unnamed);
}
