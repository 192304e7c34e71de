/*
 * Tests of proto/os/heartbeat.h: who hangs, and who only waits.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <pthread.h>
#include <stdbool.h>

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"

#define LIMIT_NS (60 * NS_PER_SECOND)

/* What is asked an hour from now. */
static const char *
stuck_later(void)
{
	return pulse_stuck(
	    clock_monotonic_ns() + 3600 * NS_PER_SECOND, LIMIT_NS);
}

static void
who_rests_does_not_hang(void **state)
{
	struct pulse pulse;

	(void)state;
	pulse_begin(&pulse, "sleeper");
	assert_null(stuck_later());
	pulse_beat();
	pulse_rest();
	assert_null(stuck_later());
	pulse_end(&pulse);
}

static void
who_is_busy_may_be_until_the_limit(void **state)
{
	struct pulse pulse;
	int64_t now_ns;

	(void)state;
	pulse_begin(&pulse, "worker");
	pulse_beat();
	now_ns = clock_monotonic_ns();
	assert_null(pulse_stuck(now_ns, LIMIT_NS));
	assert_string_equal(
	    pulse_stuck(now_ns + LIMIT_NS + 1, LIMIT_NS), "worker");
	pulse_end(&pulse);
	assert_null(stuck_later());
}

static void
a_thread_without_a_pulse_is_not_watched(void **state)
{
	(void)state;
	pulse_beat();
	assert_null(stuck_later());
	pulse_rest();
}

static void
the_inner_one_counts_until_it_ends(void **state)
{
	struct pulse outer, inner;

	(void)state;
	pulse_begin(&outer, "outer");
	pulse_beat();
	/* The outer one has handed its work over. */
	pulse_begin(&inner, "inner");
	assert_null(stuck_later());
	pulse_beat();
	assert_string_equal(stuck_later(), "inner");
	pulse_end(&inner);
	assert_null(stuck_later());
	pulse_beat();
	assert_string_equal(stuck_later(), "outer");
	pulse_end(&outer);
}

static pthread_barrier_t barrier;

static void *
hang(void *arg)
{
	struct pulse pulse;

	pulse_begin(&pulse, arg);
	pulse_beat();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pulse_end(&pulse);
	return NULL;
}

static void
one_that_hangs_is_found_among_others(void **state)
{
	struct pulse pulse;
	pthread_t thread;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	pulse_begin(&pulse, "good");
	assert_int_equal(pthread_create(&thread, NULL, hang, "hung"), 0);
	pthread_barrier_wait(&barrier);
	pulse_beat();
	pulse_rest();
	assert_string_equal(stuck_later(), "hung");
	assert_null(pulse_stuck(clock_monotonic_ns(), LIMIT_NS));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	assert_null(stuck_later());
	pulse_end(&pulse);
	pthread_barrier_destroy(&barrier);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_rests_does_not_hang),
		cmocka_unit_test(who_is_busy_may_be_until_the_limit),
		cmocka_unit_test(a_thread_without_a_pulse_is_not_watched),
		cmocka_unit_test(the_inner_one_counts_until_it_ends),
		cmocka_unit_test(one_that_hangs_is_found_among_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
