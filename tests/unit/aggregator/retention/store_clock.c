/*
 * store_clock - tests of the judgement about the wall clock.
 *
 * Times are hours; the steady clock begins at 1,000.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/retention/store_clock.h"

#define HOUR INT64_C(3600000000000)
#define YEAR (8766 * HOUR)
#define NOW  (50 * YEAR)

static struct store_clock store_clock;
static int64_t wall_ns, steady_ns;

static int
set_up(void **state)
{
	store_clock = (struct store_clock){ .noted_ns = 0 };
	wall_ns = NOW;
	steady_ns = 1000 * HOUR;
	return 0;
}

/* Half an hour later, when the wall clock has gone half an hour and `jump`. */
static enum store_clock_doubt
later(int64_t jump)
{
	steady_ns += HOUR / 2;
	wall_ns += HOUR / 2 + jump;
	return store_clock_step(&store_clock, wall_ns, steady_ns);
}

static void
hear(int64_t lead)
{
	store_clock_hear(&store_clock, wall_ns, wall_ns, wall_ns - lead);
}

static void
start(void)
{
	store_clock_step(&store_clock, wall_ns, steady_ns);
}

static void
a_new_store_believes_the_clock(void **state)
{
	start();
	assert_int_equal(store_clock.doubt, STORE_CLOCK_TRUSTED);
	for (int i = 0; i < 100; i++)
		assert_int_equal(later(0), STORE_CLOCK_TRUSTED);
	assert_int_equal(store_clock.noted_ns, NOW + 50 * HOUR);
}

static void
a_jump_is_doubted_until_the_clock_is_back(void **state)
{
	start();
	assert_int_equal(later(10 * YEAR), STORE_CLOCK_AHEAD);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	assert_int_equal(later(-10 * YEAR), STORE_CLOCK_TRUSTED);
	/* Behind by a day, and back. */
	assert_int_equal(later(-24 * HOUR), STORE_CLOCK_BEHIND);
	assert_int_equal(later(24 * HOUR), STORE_CLOCK_TRUSTED);
}

static void
steps_within_the_tolerance_are_followed(void **state)
{
	start();
	assert_int_equal(later(HOUR / 2), STORE_CLOCK_TRUSTED);
	assert_int_equal(later(-HOUR), STORE_CLOCK_TRUSTED);
	assert_int_equal(later(HOUR / 2), STORE_CLOCK_TRUSTED);
}

/* A clock that runs a thousand times too fast makes no single large jump. */
static void
many_small_jumps_are_one_large_one(void **state)
{
	start();
	for (int i = 0; i < 4; i++)
		later(HOUR);
	assert_int_equal(store_clock.doubt, STORE_CLOCK_AHEAD);
}

/* Off for 8 h: the lead is 8 h at the start and less than 1 h after 7 h. */
static void
a_night_without_power_is_caught_up_in_its_own_length(void **state)
{
	start();
	wall_ns += 8 * HOUR;
	store_clock.steady_ns = 0; /* another process */
	steady_ns = 3 * HOUR;
	assert_int_equal(store_clock_step(&store_clock, wall_ns, steady_ns),
	    STORE_CLOCK_AHEAD);
	for (int i = 0; i < 13; i++)
		assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	assert_int_equal(later(0), STORE_CLOCK_TRUSTED);
}

static void
other_nodes_that_agree_for_an_hour_settle_it(void **state)
{
	start();
	assert_int_equal(later(100 * HOUR), STORE_CLOCK_AHEAD);
	hear(HOUR / 4);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	hear(-HOUR / 4);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	hear(0);
	assert_int_equal(later(0), STORE_CLOCK_TRUSTED);
	assert_true(store_clock.confirmed);
	assert_int_equal(store_clock.noted_ns, wall_ns);
}

/* They agreed with the clock before it jumped. */
static void
agreement_with_another_clock_does_not_count(void **state)
{
	start();
	hear(0);
	assert_int_equal(later(0), STORE_CLOCK_TRUSTED);
	hear(0);
	assert_int_equal(later(100 * HOUR), STORE_CLOCK_AHEAD);
	hear(100 * HOUR);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	hear(100 * HOUR);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	hear(100 * HOUR);
	assert_int_equal(later(0), STORE_CLOCK_AHEAD);
}

/* A batch that arrived before the jump says nothing about the clock now, and
 * one without a time says nothing at all. */
static void
old_batches_and_those_without_a_time_do_not_count(void **state)
{
	start();
	later(100 * HOUR);
	for (int i = 0; i < 4; i++) {
		store_clock_hear(&store_clock, wall_ns, wall_ns - 100 * HOUR,
		    wall_ns - 100 * HOUR);
		store_clock_hear(&store_clock, wall_ns, wall_ns, 0);
		assert_int_equal(later(0), STORE_CLOCK_AHEAD);
	}
}

static void
a_new_store_listens_to_other_nodes(void **state)
{
	start();
	hear(10 * YEAR);
	assert_int_equal(later(0), STORE_CLOCK_DISAGREES);
	assert_int_equal(later(0), STORE_CLOCK_DISAGREES);
	/* One node with a bad clock does not outvote another. */
	hear(10 * YEAR);
	hear(0);
	assert_int_equal(later(0), STORE_CLOCK_TRUSTED);
	/* The clock is corrected: the noted time was wrong. */
	store_clock = (struct store_clock){ .noted_ns = 0 };
	start();
	assert_int_equal(later(-10 * YEAR), STORE_CLOCK_BEHIND);
	for (int i = 0; i < 3; i++) {
		hear(0);
		later(0);
	}
	assert_int_equal(store_clock.doubt, STORE_CLOCK_TRUSTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_new_store_believes_the_clock, set_up),
		cmocka_unit_test_setup(
		    a_jump_is_doubted_until_the_clock_is_back, set_up),
		cmocka_unit_test_setup(
		    steps_within_the_tolerance_are_followed, set_up),
		cmocka_unit_test_setup(
		    many_small_jumps_are_one_large_one, set_up),
		cmocka_unit_test_setup(
		    a_night_without_power_is_caught_up_in_its_own_length,
		    set_up),
		cmocka_unit_test_setup(
		    other_nodes_that_agree_for_an_hour_settle_it, set_up),
		cmocka_unit_test_setup(
		    agreement_with_another_clock_does_not_count, set_up),
		cmocka_unit_test_setup(
		    old_batches_and_those_without_a_time_do_not_count, set_up),
		cmocka_unit_test_setup(
		    a_new_store_listens_to_other_nodes, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
