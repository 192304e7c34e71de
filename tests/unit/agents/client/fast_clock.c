/*
 * fast_clock - a counter of a known rate against a clock of a known error.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/fast_clock.h"

#include <math.h>

#include "tests/unit/check.h"

#define SECOND INT64_C(1000000000)

/* What the kernel would say: 2.5 ticks a nanosecond, from an odd beginning. */
static uint64_t
tick_at(int64_t ns)
{
	return UINT64_C(123456789) + (uint64_t)ns * 5 / 2;
}

static struct fast_clock_point
mark_at(int64_t ns, int64_t noise_ns)
{
	return (struct fast_clock_point){ tick_at(ns), ns + noise_ns };
}

/* How far a tick of that time is off. */
static double
error_at(const struct fast_clock *ticks, int64_t ns)
{
	return (double)(fast_clock_wall_ns(ticks, tick_at(ns)) -
			ticks->wall_less_monotonic - ns);
}

static struct fast_clock
begin(void)
{
	struct fast_clock ticks;

	memset(&ticks, 0, sizeof(ticks));
	fast_clock_is_counter = true;
	fast_clock_add(&ticks, mark_at(0, 0));
	fast_clock_add(&ticks, mark_at(SECOND / 500, 0));
	return ticks;
}

static void
a_noisy_clock_is_followed_within_its_noise(void **state)
{
	struct fast_clock ticks = begin();
	uint64_t seed = 1;
	double worst = 0;

	for (int64_t ns = SECOND / 100; ns < 100 * SECOND;
	     ns += SECOND / 100 + (int64_t)(check_random(&seed) % 100000000)) {
		fast_clock_add(&ticks,
		    mark_at(ns, (int64_t)(check_random(&seed) % 201) - 100));
		if (ns > 20 * SECOND)
			worst = fmax(worst, fabs(error_at(&ticks, ns)));
	}
	assert_true(worst < 1000);
}

static void
later_ticks_are_later_times_whatever_is_marked_between(void **state)
{
	struct fast_clock ticks = begin();
	uint64_t seed = 2;
	int64_t last = INT64_MIN, ns = SECOND / 100;

	for (int i = 0; i < 20000; i++) {
		int64_t now = fast_clock_wall_ns(&ticks, tick_at(ns));

		assert_true(now > last);
		last = now;
		ns += 40;
		if (i % 100 == 99) {
			ns += SECOND / 90;
			fast_clock_add(&ticks,
			    mark_at(ns,
				(int64_t)(check_random(&seed) % 4001) - 2000));
		}
	}
}

static void
a_span_of_hours_is_as_long_as_the_clock_says(void **state)
{
	struct fast_clock ticks = begin();
	int64_t ns;

	/* The clock is disciplined meanwhile: 20 parts in a million. */
	for (ns = SECOND; ns < 7200 * SECOND; ns += SECOND)
		fast_clock_add(&ticks, mark_at(ns, ns / 50000));
	assert_true(fabs(error_at(&ticks, SECOND / 100)) < 5e6);
	assert_true(fabs(error_at(&ticks, ns) - (double)(ns / 50000)) < 300000);
	/* In the middle, where marks were decimated. */
	assert_true(fabs(error_at(&ticks, 3600 * SECOND) -
			 (double)(3600 * SECOND / 50000)) < 2e6);
}

static void
a_jump_is_taken_as_one(void **state)
{
	struct fast_clock ticks = begin();

	for (int64_t ns = SECOND; ns < 10 * SECOND; ns += SECOND)
		fast_clock_add(&ticks, mark_at(ns, 0));
	/* It slept for an hour, and the counter did not. */
	fast_clock_add(&ticks, mark_at(10 * SECOND, 3600 * SECOND));
	assert_true(fabs(error_at(&ticks, 10 * SECOND) -
			 3600.0 * (double)SECOND) < 1000);
	/* The counter began again. */
	fast_clock_add(&ticks, (struct fast_clock_point){ 5, 4000 * SECOND });
	assert_true(fast_clock_wall_ns(&ticks, 5) - ticks.wall_less_monotonic ==
		    4000 * SECOND);
}

static void
without_a_counter_a_tick_is_the_clock(void **state)
{
	struct fast_clock ticks;

	fast_clock_is_counter = false;
	fast_clock_init(&ticks);
	assert_true(
	    fast_clock_wall_ns(&ticks, 17) == 17 + ticks.wall_less_monotonic);
}

static void
this_machines_ticks_are_wall_time(void **state)
{
	struct fast_clock ticks;
	struct timespec before, after;
	uint64_t tick;
	int64_t ns;

	fast_clock_is_counter = false;
	fast_clock_choose();
	fast_clock_init(&ticks);
	fast_clock_mark(&ticks);
	clock_gettime(CLOCK_REALTIME, &before);
	tick = fast_clock_now();
	clock_gettime(CLOCK_REALTIME, &after);
	fast_clock_mark(&ticks);
	ns = fast_clock_wall_ns(&ticks, tick);
	/* As exact as a slope of two milliseconds, on a busy machine. */
	assert_true(ns > before.tv_sec * SECOND + before.tv_nsec - 1000000);
	assert_true(ns < after.tv_sec * SECOND + after.tv_nsec + 1000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_noisy_clock_is_followed_within_its_noise),
		cmocka_unit_test(
		    later_ticks_are_later_times_whatever_is_marked_between),
		cmocka_unit_test(a_span_of_hours_is_as_long_as_the_clock_says),
		cmocka_unit_test(a_jump_is_taken_as_one),
		cmocka_unit_test(without_a_counter_a_tick_is_the_clock),
		cmocka_unit_test(this_machines_ticks_are_wall_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
