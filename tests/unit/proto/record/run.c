/*
 * run - the durations of the steps of a run.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/run.h"

#include "tests/unit/check.h"
#include "tests/unit/proto/record/pairing_judge.h"

enum { EVENTS = 60 };

/* Events of four roles in the order of time, received at any time; those of one
 * time in any order. */
static void
make(uint64_t *random, struct run_events *events)
{
	int64_t time_ns = -20;

	events->count = (uint32_t)check_random(random) % EVENTS;
	for (uint32_t i = 0; i < events->count; i++) {
		time_ns += (int64_t)(check_random(random) % 3);
		events->at[i] = (struct run_event){ .time_ns = time_ns,
			.receive_ns =
			    time_ns + (int64_t)(check_random(random) % 9) - 4,
			.role = (uint8_t)(check_random(random) % 4) };
	}
}

/* What the judge makes of the events of the step alone. */
static uint32_t
judge(const struct run_events *events, struct run_step step,
    enum run_clock clock, int64_t *ns)
{
	const struct run_event *of[EVENTS];
	struct pairing at[EVENTS];
	uint32_t count = 0, pairs = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		const struct run_event *event = &events->at[i];

		if (event->role != step.begin && event->role != step.end)
			continue;
		at[count] = (struct pairing){ .time_ns = event->time_ns,
			.is_end = event->role == step.end };
		of[count++] = event;
	}
	pairing_judge(at, count, false);
	for (uint32_t i = 0; i < count; i++) {
		const struct run_event *begin;

		if (!at[i].is_end || at[i].partner == PAIRING_ALONE)
			continue;
		begin = of[at[i].partner];
		ns[pairs++] = clock == RUN_EMIT
				  ? of[i]->time_ns - begin->time_ns
				  : of[i]->receive_ns - begin->receive_ns;
	}
	return pairs;
}

/* Also of a step that begins and ends with one event, which has no starts. */
static void
steps_last_from_start_to_end(void **state)
{
	int64_t ns[RUN_EVENTS_MAX / 2], judged[EVENTS];
	uint64_t random = check_seed();
	struct run_events events;
	uint32_t pairs = 0;

	for (int round = 0; round < 20000; round++) {
		enum run_clock clock =
		    (enum run_clock)(check_random(&random) % RUN_CLOCKS);
		struct run_step step = { (uint8_t)(check_random(&random) % 4),
			(uint8_t)(check_random(&random) % 4) };
		uint32_t count;

		make(&random, &events);
		count = run_events_durations(&events, step, clock, ns);
		assert_int_equal(count, judge(&events, step, clock, judged));
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(ns[i], judged[i]);
		pairs += count;
	}
	assert_true(pairs > 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_last_from_start_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
