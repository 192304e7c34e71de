/*
 * generate_testruns - generates test runs of a device farm.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/testruns.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/hash/prng.h"
#include "proto/os/clock.h"

#define SECOND_MIN (TIME_MIN_NS / NS_PER_SECOND)
#define SECOND_MAX (TIME_MAX_NS / NS_PER_SECOND)

/* From the base to the end of the last run; -1: longer than all valid times. */
static int64_t
get_length_s(const struct generate_runs *runs)
{
	uint64_t most = (uint64_t)(SECOND_MAX - SECOND_MIN) - GENERATE_RUN_S;

	if (runs->runs > 1 && runs->spacing_s > most / (runs->runs - 1))
		return -1;
	return (int64_t)((runs->runs - 1) * runs->spacing_s) + GENERATE_RUN_S;
}

static int
fail_range(const struct generate_runs *runs, struct err *err)
{
	return err_set(err,
	    "%" PRIu64 " runs, %" PRIu64 " s apart, are not all between the "
	    "years 1900 and 2200",
	    runs->runs, runs->spacing_s);
}

int
generate_runs_base(struct generate_runs *runs, int64_t end_s, struct err *err)
{
	int64_t length_s = get_length_s(runs);

	if (length_s < 0 || length_s > end_s - SECOND_MIN)
		return fail_range(runs, err);
	runs->base_s = end_s - length_s;
	return 0;
}

int
generate_runs_begin(struct generate_runs *runs, struct err *err)
{
	int64_t length_s = get_length_s(runs);

	if (runs->first > UINT64_MAX - (runs->runs - 1))
		return err_set(err,
		    "the ids of %" PRIu64 " runs from %" PRIu64
		    " on do not fit 64 bits",
		    runs->runs, runs->first);
	if (length_s < 0 || runs->base_s < SECOND_MIN ||
	    length_s > SECOND_MAX - runs->base_s)
		return fail_range(runs, err);
	runs->state = runs->seed;
	runs->at = 0;
	return 0;
}

static void
make_events(struct generate_runs *runs, struct generate_run *run)
{
	int64_t request = runs->base_s + (int64_t)(runs->at * runs->spacing_s) +
			  prng_between(&runs->state, 0, 20);
	int64_t queue_start = request + prng_between(&runs->state, 1, 2);
	int64_t queue_end = queue_start + prng_between(&runs->state, 1, 5);
	int64_t flash_end = queue_end + prng_between(&runs->state, 10, 20);
	int64_t boot_end = flash_end + prng_between(&runs->state, 5, 10);
	int64_t test_end = boot_end + prng_between(&runs->state, 20, 40);
	int64_t publish = test_end + 5;
	const struct generate_event events[GENERATE_EVENTS] = {
		{ "request", request, request + 1 },
		{ "queue_start", queue_start, queue_start },
		{ "queue_end", queue_end, queue_end + 1 },
		{ "flash_start", queue_end, queue_end + 1 },
		{ "flash_end", flash_end, flash_end + 1 },
		{ "boot_start", flash_end, flash_end + 1 },
		{ "boot_end", boot_end, boot_end + 1 },
		{ "test_start", boot_end, boot_end + 1 },
		{ "test_end", test_end, test_end + 1 },
		{ "publish", publish, publish },
	};

	for (int i = 0; i < GENERATE_EVENTS; i++)
		run->event[i] = events[i];
}

bool
generate_runs_next(struct generate_runs *runs, struct generate_run *run)
{
	uint64_t i = runs->at;

	if (i == runs->runs)
		return false;
	snprintf(run->id, sizeof(run->id), "%" PRIu64, runs->first + i);
	snprintf(run->request_id, sizeof(run->request_id), "%" PRIu64, i);
	snprintf(run->hosts, sizeof(run->hosts), "[[\"worker%" PRIu64 "\",1]]",
	    i % 5);
	snprintf(run->requestor, sizeof(run->requestor),
	    "user%02" PRIu64 "@example.com", (i % 37) * (i % 37) % 37);
	run->error = i % 50 == 49 ? "Flashing failed" : NULL;
	make_events(runs, run);
	runs->at++;
	return true;
}
