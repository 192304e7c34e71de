/*
 * runs_durations - statistics of the steps of each group of runs on corrected
 * clocks.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/durations.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/os/clock.h"

#define NO_DESCRIPTION UINT32_MAX

static int
compare(const void *left, const void *right)
{
	const struct runs_duration *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int
add(struct runs_durations *durations, const struct runs_duration *one,
    struct err *err)
{
	if (durations->count == RUNS_DURATIONS_MAX)
		return err_set(err,
		    "more than %d durations to correct: select groups with "
		    "--group, or take the clocks of the nodes with --clock raw",
		    RUNS_DURATIONS_MAX);
	durations->at = memory_grow(
	    durations->at, &durations->room, durations->count, sizeof(*one));
	durations->at[durations->count++] = *one;
	return 0;
}

static int
take(struct runs_durations *durations, const struct runs *runs,
    const struct runs_run *run, struct err *err)
{
	int64_t duration[RUN_EVENTS_MAX / 2];
	struct runs_duration one = { .group = NO_DESCRIPTION };

	if (run->known)
		one.group = string_table_add(&durations->groups,
		    run->group.bytes > 0 ? run->group : text_of(""));
	for (uint32_t i = 0; i < runs->step_count; i++) {
		const struct runs_step *step = &runs->steps[i];
		uint32_t count = run_events_durations(
		    &run->events, step->of, RUN_EMIT, duration);

		one.step = (uint16_t)i;
		one.of = RUNS_OF_ITERATION;
		for (uint32_t k = 0; k < count; k++) {
			one.ns = duration[k];
			if (add(durations, &one, err) != 0)
				return -1;
		}
		one.of = RUNS_OF_TOTAL;
		if (runs_total(run, step, RUN_EMIT, &one.ns) &&
		    add(durations, &one, err) != 0)
			return -1;
	}
	return 0;
}

int
runs_durations_read(struct runs_durations *durations, struct runs *runs,
    struct text pattern, struct err *err)
{
	struct runs_run run;
	int rc;

	*durations = (struct runs_durations){ .at = NULL };
	string_table_init(&durations->groups);
	if (runs_select(runs, text_of(""), pattern, err) != 0)
		return -1;
	while ((rc = runs_next(runs, &run, err)) > 0)
		if (take(durations, runs, &run, err) != 0)
			return -1;
	if (durations->count > 1)
		qsort(durations->at, durations->count, sizeof(*durations->at),
		    compare);
	return rc;
}

void
runs_durations_clear(struct runs_durations *durations)
{
	string_table_clear(&durations->groups);
	free(durations->at);
	*durations = (struct runs_durations){ .at = NULL };
}

/* ---- statistics ---- */

/* The first duration that is not before `wanted`. */
static uint32_t
find(const struct runs_durations *durations, const struct runs_duration *wanted)
{
	uint32_t low = 0, high = durations->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&durations->at[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double
seconds_at(const struct runs_duration *at, uint64_t count, unsigned percent)
{
	return (double)at[quantile_index(count, percent)].ns / NS_PER_SECOND;
}

static struct runs_stats
stats_of(const struct runs_duration *at, uint32_t count)
{
	long double mean, squares = 0;
	__int128 sum = 0;

	if (count == 0)
		return (struct runs_stats){ .count = 0 };
	for (uint32_t i = 0; i < count; i++)
		sum += at[i].ns;
	mean = (long double)sum / count;
	for (uint32_t i = 0; i < count; i++) {
		long double off = (long double)at[i].ns - mean;

		squares += off * off;
	}
	return (struct runs_stats){
		.count = count,
		.sum = (double)sum / NS_PER_SECOND,
		.min = (double)at[0].ns / NS_PER_SECOND,
		.max = (double)at[count - 1].ns / NS_PER_SECOND,
		.mean = (double)(mean / NS_PER_SECOND),
		.std_population =
		    (double)(sqrtl(squares / count) / NS_PER_SECOND),
		.std_sample =
		    count > 1
			? (double)(sqrtl(squares / (count - 1)) / NS_PER_SECOND)
			: NAN,
		.p50 = seconds_at(at, count, 50),
		.p90 = seconds_at(at, count, 90),
		.p99 = seconds_at(at, count, 99),
	};
}

struct runs_stats
runs_durations_of(const struct runs_durations *durations,
    const struct text *group, uint32_t step, enum runs_of of)
{
	struct runs_duration wanted = { NO_DESCRIPTION, (uint16_t)step,
		(uint16_t)of, INT64_MIN };
	uint32_t from;

	if (durations->count == 0 ||
	    (group != NULL &&
		!string_table_find(&durations->groups,
		    group->bytes > 0 ? *group : text_of(""), &wanted.group)))
		return (struct runs_stats){ .count = 0 };
	from = find(durations, &wanted);
	wanted.of++;
	return stats_of(durations->at + from, find(durations, &wanted) - from);
}
