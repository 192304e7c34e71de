/*
 * pairing - which end belongs to which start.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/pairing.h"

#include "tests/unit/check.h"
#include "tests/unit/proto/record/pairing_judge.h"

enum { EVENTS = 60 };

/* Events in the order of time; those of one time in any order. */
static uint32_t
make(uint64_t *random, struct pairing at[static EVENTS])
{
	uint32_t count = (uint32_t)check_random(random) % EVENTS;
	int64_t time_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		time_ns += (int64_t)(check_random(random) % 3);
		at[i] = (struct pairing){ .time_ns = time_ns,
			.is_end = check_random(random) % 2 != 0 };
	}
	return count;
}

static void
events_pair_as_the_rule_says(void **state)
{
	uint64_t random = check_seed();
	struct pairing at[EVENTS], judged[EVENTS];

	for (int round = 0; round < 20000; round++) {
		bool fifo = check_random(&random) % 2 != 0;
		uint32_t count = make(&random, at);

		memcpy(judged, at, sizeof(at));
		pairing_find(at, count, fifo);
		pairing_judge(judged, count, fifo);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(at[i].partner, judged[i].partner);
	}
}

/* One hour and an end before its start; what int64 cannot hold. */
static void
a_duration_is_end_minus_begin(void **state)
{
	assert_int_equal(pairing_duration(100, 3600), 3500);
	assert_int_equal(pairing_duration(3, -4), -7);
	assert_int_equal(pairing_duration(INT64_MIN, 1), INT64_MAX);
	assert_int_equal(pairing_duration(INT64_MAX, -2), INT64_MIN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_pair_as_the_rule_says),
		cmocka_unit_test(a_duration_is_end_minus_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
