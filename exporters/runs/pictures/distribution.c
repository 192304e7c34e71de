/*
 * runs_distribution - how long the steps of test runs took.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/pictures/distribution.h"

#include <stdlib.h>

#include "exporters/runs/pictures/days_plot.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"

static void
add(struct boxes *boxes, const struct runs_days *days)
{
	double *seconds = memory_zero(days->value_count + 1, sizeof(*seconds));

	for (uint32_t i = 0; i < days->value_count; i++)
		seconds[i] = (double)days->values[i].ns / NS_PER_SECOND;
	boxes_add(boxes, days->step->name, seconds, days->value_count);
	free(seconds);
}

static void
put_words(struct runs_distribution *distribution, const struct runs *runs,
    enum run_clock clock)
{
	static const char *const clocks[] = { "emitted", "received" };
	size_t used, room = sizeof(distribution->title);
	struct boxes *boxes = &distribution->boxes;

	used = (size_t)snprintf(
	    distribution->title, room, "Durations of the steps of runs, ");
	used += table_elide(
	    distribution->title + used, room - used, runs->partition, 30);
	snprintf(
	    distribution->title + used, room - used, ", as %s", clocks[clock]);
	boxes->title = distribution->title;
	boxes->note = BOXES_NOTE;
}

int
runs_distribution_read(struct runs_distribution *distribution,
    struct runs *runs, struct text group, enum run_clock clock, struct err *err)
{
	struct runs_days days = {
		.runs = runs, .group = group, .clock = clock
	};
	struct boxes *boxes = &distribution->boxes;
	int rc = 0;

	*boxes = (struct boxes){ .rows = NULL };
	for (uint32_t i = 0; rc == 0 && i < runs->step_count; i++) {
		days.step = &runs->steps[i];
		rc = runs_days_read(&days, err);
		if (rc == 0)
			add(boxes, &days);
	}
	put_words(distribution, runs, clock);
	runs_doubt_warn(&days.doubt, "durations");
	runs_days_clear(&days);
	return rc;
}

void
runs_distribution_clear(struct runs_distribution *distribution)
{
	boxes_clear(&distribution->boxes);
}
