/*
 * schedule - which sets, how often, when.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/schedule.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

#define SECOND NS_PER_SECOND
#define NODE   ((struct text){ "node-7", 6 })

static void
parsed(struct schedule *schedule, const char *sets)
{
	struct err err = { 0 };

	if (schedule_parse(schedule, sets, SECOND, &err) != 0)
		fail_msg("%s: %s", sets, err.text);
}

static void
the_default_has_slow_sets_and_leaves_dear_ones_out(void **state)
{
	struct schedule schedule;

	parsed(&schedule, NULL);
	assert_int_equal(schedule.period_ns[SCHEDULE_CPU], SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_PERF], SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_FILESYSTEM], 10 * SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_CPUS], 0);
}

static void
a_slow_set_takes_ten_periods_but_not_over_ten_seconds_for_that(void **state)
{
	static const int64_t ms[][2] = { { 100, 1000 }, { 1000, 10000 },
		{ 3000, 10000 }, { 10000, 10000 }, { 60000, 60000 } };
	struct schedule schedule;
	struct err err;

	for (size_t i = 0; i < sizeof(ms) / sizeof(*ms); i++) {
		assert_int_equal(
		    schedule_parse(&schedule, NULL, ms[i][0] * 1000000, &err),
		    0);
		assert_int_equal(schedule.period_ns[SCHEDULE_FILESYSTEM],
		    ms[i][1] * 1000000);
		assert_int_equal(
		    schedule.period_ns[SCHEDULE_CPU], ms[i][0] * 1000000);
	}
}

static void
a_list_replaces_the_default_or_changes_it(void **state)
{
	struct schedule schedule;

	parsed(&schedule, "cpu,perf=10s");
	assert_int_equal(schedule.period_ns[SCHEDULE_CPU], SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_PERF], 10 * SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_MEMORY], 0);
	parsed(&schedule, "default,cpus,filesystem=1m,-gpu");
	assert_int_equal(schedule.period_ns[SCHEDULE_CPUS], SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_MEMORY], SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_FILESYSTEM], 60 * SECOND);
	assert_int_equal(schedule.period_ns[SCHEDULE_GPU], 0);
	parsed(&schedule, "-perf");
	assert_int_equal(schedule.period_ns[SCHEDULE_PERF], 0);
	assert_int_equal(schedule.period_ns[SCHEDULE_CPU], SECOND);
	parsed(&schedule, "all");
	for (int i = 0; i < SCHEDULE_GROUPS; i++)
		assert_true(schedule.period_ns[i] > 0);
	parsed(&schedule, "");
	assert_int_equal(schedule_next_ns(&schedule), INT64_MAX);
}

static void
a_list_that_makes_no_sense_is_refused_with_a_sentence(void **state)
{
	static const char *const bad[] = { "cpu,nonsense", "cpu,,memory",
		"cpu=", "cpu=1ms", "cpu=-1s", "-nonsense", "=1s",
		"cpu memory" };
	struct schedule schedule;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = { 0 };

		assert_int_equal(
		    schedule_parse(&schedule, bad[i], SECOND, &err), -1);
		assert_true(err.text[0] != '\0');
	}
}

static void
sets_of_a_node_are_on_one_grid(void **state)
{
	int64_t wall_ns = INT64_C(1795000000123456789), now_ns = 777;
	struct schedule schedule;

	parsed(&schedule, NULL);
	schedule_start(&schedule, NODE, wall_ns, now_ns);
	assert_true(schedule_next_ns(&schedule) > now_ns);
	assert_true(schedule_next_ns(&schedule) <= now_ns + SECOND);
	assert_int_equal((schedule.due_ns[SCHEDULE_FILESYSTEM] -
			     schedule.due_ns[SCHEDULE_CPU]) %
			     SECOND,
	    0);
	/* Clocks before 1970 exist, on boards without a battery. */
	schedule_start(&schedule, NODE, -wall_ns, now_ns);
	assert_true(schedule_next_ns(&schedule) > now_ns);
	assert_true(schedule_next_ns(&schedule) <= now_ns + SECOND);
}

static void
missed_periods_are_skipped(void **state)
{
	struct schedule schedule;
	int64_t first_ns;

	parsed(&schedule, "cpu,filesystem");
	schedule_start(&schedule, NODE, 0, 0);
	first_ns = schedule.due_ns[SCHEDULE_CPU];
	assert_int_equal(schedule_take(&schedule, first_ns - 1), 0);
	assert_true(schedule_take(&schedule, first_ns) >> SCHEDULE_CPU & 1);
	assert_int_equal(schedule_take(&schedule, first_ns), 0);
	assert_true(schedule_take(&schedule, first_ns + 3600 * SECOND + 5) >>
			SCHEDULE_CPU &
		    1);
	assert_int_equal(
	    schedule.due_ns[SCHEDULE_CPU], first_ns + 3601 * SECOND);
}

static void
throttling_makes_every_period_longer(void **state)
{
	struct schedule schedule;
	int64_t first_ns;

	parsed(&schedule, "cpu");
	schedule_start(&schedule, NODE, 0, 0);
	first_ns = schedule_next_ns(&schedule);
	schedule.factor = 8;
	assert_int_equal(schedule_take(&schedule, first_ns), 1 << SCHEDULE_CPU);
	assert_int_equal(schedule_next_ns(&schedule), first_ns + 8 * SECOND);
}

static void
the_last_sample_is_of_half_a_period_at_least(void **state)
{
	struct schedule schedule;
	int64_t first_ns;

	parsed(&schedule, "cpu");
	schedule_start(&schedule, NODE, 0, 0);
	first_ns = schedule_next_ns(&schedule);
	schedule_take(&schedule, first_ns);
	assert_int_equal(
	    schedule_take_early(&schedule, first_ns + SECOND / 4), 0);
	assert_int_equal(
	    schedule_take_early(&schedule, first_ns + SECOND * 3 / 4),
	    1 << SCHEDULE_CPU);
	assert_int_equal(schedule_next_ns(&schedule), first_ns + 2 * SECOND);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_default_has_slow_sets_and_leaves_dear_ones_out),
		cmocka_unit_test(
		    a_slow_set_takes_ten_periods_but_not_over_ten_seconds_for_that),
		cmocka_unit_test(a_list_replaces_the_default_or_changes_it),
		cmocka_unit_test(
		    a_list_that_makes_no_sense_is_refused_with_a_sentence),
		cmocka_unit_test(sets_of_a_node_are_on_one_grid),
		cmocka_unit_test(missed_periods_are_skipped),
		cmocka_unit_test(throttling_makes_every_period_longer),
		cmocka_unit_test(the_last_sample_is_of_half_a_period_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
