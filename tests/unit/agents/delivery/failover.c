/*
 * failover - tests of agents/delivery/failover.h, by a clock of our own.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "agents/delivery/failover.h"
#include "proto/os/clock.h"

#define STEP_NS (NS_PER_SECOND / 100)

static int64_t now_ns;

/* Look every 10 ms until it moves on; how long that took. */
static int64_t
patience_of(struct failover *f)
{
	int64_t began_ns = now_ns;

	while (!failover_check(f, true, now_ns)) {
		now_ns += STEP_NS;
		assert_true(now_ns - began_ns < 70 * NS_PER_SECOND);
	}
	return now_ns - began_ns;
}

static void
a_broker_that_is_mute_is_given_up_after_one_to_two_seconds(void **state)
{
	struct failover f;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		failover_init(&f, 3, seed);
		int64_t took_ns = patience_of(&f);

		assert_true(took_ns >= NS_PER_SECOND);
		assert_true(took_ns <= 2 * NS_PER_SECOND + STEP_NS);
		assert_int_equal(f.at, 1);
		assert_int_equal(f.moves, 1);
	}
}

static void
a_short_trouble_moves_nobody(void **state)
{
	struct failover f;

	failover_init(&f, 2, 1);
	for (int i = 0; i < 1000; i++) {
		assert_false(failover_check(&f, true, now_ns));
		now_ns += NS_PER_SECOND - STEP_NS;
		assert_false(failover_check(&f, true, now_ns));
		assert_false(failover_check(&f, false, now_ns));
	}
	assert_int_equal(f.moves, 0);
}

static void
nobody_goes_back_before_the_next_one_fails(void **state)
{
	struct failover f;

	failover_init(&f, 2, 7);
	patience_of(&f);
	assert_int_equal(f.at, 1);
	assert_true(failover_answered(&f));
	assert_false(failover_answered(&f));
	for (int i = 0; i < 100000; i++, now_ns += NS_PER_SECOND)
		assert_false(failover_check(&f, false, now_ns));
	assert_int_equal(f.at, 1);
	patience_of(&f);
	assert_int_equal(f.at, 0);
}

static void
patience_doubles_with_each_round_and_has_an_end(void **state)
{
	struct failover f;

	failover_init(&f, 3, 11);
	for (int round = 0; round < 10; round++) {
		int64_t base_ns = NS_PER_SECOND << (round < 5 ? round : 5);

		for (uint32_t i = 0; i < 3; i++) {
			int64_t took_ns = patience_of(&f);

			assert_true(took_ns >= base_ns);
			assert_true(took_ns <= 2 * base_ns + STEP_NS);
			assert_int_equal(f.at, (i + 1) % 3);
		}
	}
	/* An answer makes it short again. */
	failover_answered(&f);
	assert_true(patience_of(&f) <= 2 * NS_PER_SECOND + STEP_NS);
}

static void
agents_of_one_dead_broker_do_not_move_together(void **state)
{
	uint32_t moved[10] = { 0 };
	struct failover f;

	for (uint64_t seed = 0; seed < 10000; seed++) {
		failover_init(&f, 2, seed);
		int64_t took_ns = patience_of(&f) - NS_PER_SECOND;

		moved[took_ns * 10 / (NS_PER_SECOND + 2 * STEP_NS)]++;
	}
	for (int i = 0; i < 10; i++)
		assert_true(moved[i] > 700 && moved[i] < 1300);
}

static void
a_single_broker_is_never_left(void **state)
{
	struct failover f;

	failover_init(&f, 1, 3);
	for (int i = 0; i < 1000; i++, now_ns += NS_PER_SECOND)
		assert_false(failover_check(&f, true, now_ns));
}

static void
one_that_will_not_do_is_passed_by_but_never_all_of_them(void **state)
{
	struct failover f;

	failover_init(&f, 3, 5);
	assert_true(failover_skip(&f));
	assert_int_equal(f.at, 1);
	assert_true(failover_skip(&f));
	assert_int_equal(f.at, 2);
	assert_false(failover_skip(&f));
	assert_int_equal(f.at, 2);
	assert_int_equal(f.moves, 2);
	/* An answer makes all of them worth a try again. */
	assert_true(failover_answered(&f));
	assert_true(failover_skip(&f));
	assert_int_equal(f.at, 0);
	failover_init(&f, 1, 5);
	assert_false(failover_skip(&f));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_broker_that_is_mute_is_given_up_after_one_to_two_seconds),
		cmocka_unit_test(a_short_trouble_moves_nobody),
		cmocka_unit_test(nobody_goes_back_before_the_next_one_fails),
		cmocka_unit_test(
		    patience_doubles_with_each_round_and_has_an_end),
		cmocka_unit_test(
		    agents_of_one_dead_broker_do_not_move_together),
		cmocka_unit_test(a_single_broker_is_never_left),
		cmocka_unit_test(
		    one_that_will_not_do_is_passed_by_but_never_all_of_them),
	};

	now_ns = NS_PER_SECOND;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
