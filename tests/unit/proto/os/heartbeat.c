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
	return heartbeat_stuck(
	    clock_monotonic_ns() + 3600 * NS_PER_SECOND, LIMIT_NS);
}

static void
who_rests_does_not_hang(void **state)
{
	struct heartbeat heartbeat;

	heartbeat_begin(&heartbeat, "sleeper");
	assert_null(stuck_later());
	heartbeat_beat();
	heartbeat_rest();
	assert_null(stuck_later());
	heartbeat_end(&heartbeat);
}

static void
who_is_busy_may_be_until_the_limit(void **state)
{
	struct heartbeat heartbeat;
	int64_t now_ns;

	heartbeat_begin(&heartbeat, "worker");
	heartbeat_beat();
	now_ns = clock_monotonic_ns();
	assert_null(heartbeat_stuck(now_ns, LIMIT_NS));
	assert_string_equal(
	    heartbeat_stuck(now_ns + LIMIT_NS + 1, LIMIT_NS), "worker");
	heartbeat_end(&heartbeat);
	assert_null(stuck_later());
}

static void
a_thread_without_a_pulse_is_not_watched(void **state)
{
	heartbeat_beat();
	assert_null(stuck_later());
	heartbeat_rest();
}

static void
the_inner_one_counts_until_it_ends(void **state)
{
	struct heartbeat outer, inner;

	heartbeat_begin(&outer, "outer");
	heartbeat_beat();
	/* The outer one has handed its work over. */
	heartbeat_begin(&inner, "inner");
	assert_null(stuck_later());
	heartbeat_beat();
	assert_string_equal(stuck_later(), "inner");
	heartbeat_end(&inner);
	assert_null(stuck_later());
	heartbeat_beat();
	assert_string_equal(stuck_later(), "outer");
	heartbeat_end(&outer);
}

static pthread_barrier_t barrier;

static void *
hang(void *arg)
{
	struct heartbeat heartbeat;

	heartbeat_begin(&heartbeat, arg);
	heartbeat_beat();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	heartbeat_end(&heartbeat);
	return NULL;
}

static void
one_that_hangs_is_found_among_others(void **state)
{
	struct heartbeat heartbeat;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	heartbeat_begin(&heartbeat, "good");
	assert_int_equal(pthread_create(&thread, NULL, hang, "hung"), 0);
	pthread_barrier_wait(&barrier);
	heartbeat_beat();
	heartbeat_rest();
	assert_string_equal(stuck_later(), "hung");
	assert_null(heartbeat_stuck(clock_monotonic_ns(), LIMIT_NS));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	assert_null(stuck_later());
	heartbeat_end(&heartbeat);
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
