/*
 * span - what a span of libpoolscope costs the measured thread, next to
 * the two readings of the clock that it needs.
 *
 * Bursts that fit the ring are timed; between them the library's thread hands
 * them over, untimed.  With several threads: from the start of all to the end
 * of each, waiting for a processor included.
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/client/fast_clock.h"
#include "agents/client/poolscope.h"
#include "proto/os/clock.h"
#include "tests/bench/rig.h"

enum { THREADS = 8, BURST = 2000, BURSTS = 100 };

static pthread_barrier_t barrier;

static int64_t
burst_of_spans(void)
{
	int64_t began = clock_monotonic_ns();

	for (int i = 0; i < BURST; i++) {
		struct poolscope_span span;

		poolscope_begin(&span, "step", "bench");
		poolscope_end(&span);
	}
	return clock_monotonic_ns() - began;
}

static int64_t
burst_with_attribute(void)
{
	int64_t began = clock_monotonic_ns();

	for (int i = 0; i < BURST; i++) {
		struct poolscope_span span;

		poolscope_begin(&span, "step", "bench");
		poolscope_set(&span, poolscope_int("frames", i));
		poolscope_end(&span);
	}
	return clock_monotonic_ns() - began;
}

static int64_t
burst_of_clocks(void)
{
	int64_t began = clock_monotonic_ns(), sum = 0;

	for (int i = 0; i < BURST; i++)
		sum += clock_monotonic_ns() - clock_monotonic_ns();
	return clock_monotonic_ns() - began + (sum == 1);
}

static int64_t
burst_of_ticks(void)
{
	int64_t began = clock_monotonic_ns();
	uint64_t sum = 0;

	for (int i = 0; i < BURST; i++)
		sum += fast_clock_now() - fast_clock_now();
	return clock_monotonic_ns() - began + (sum == 1);
}

struct work {
	int64_t (*burst)(void);
	int64_t ns;
};

static void *
work(void *arg)
{
	struct work *work = arg;

	poolscope_thread("worker");
	for (int i = 0; i < BURSTS; i++) {
		pthread_barrier_wait(&barrier);
		work->ns += work->burst();
		pthread_barrier_wait(&barrier);
		if (poolscope_flush(10 * NS_PER_SECOND) != 0)
			rig_fail("flush");
	}
	return NULL;
}

/* ns a call, on the average of all threads. */
static double
measure(int threads, int64_t (*burst)(void))
{
	struct work works[THREADS] = { { 0 } };
	pthread_t thread[THREADS];
	int64_t ns = 0;

	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		works[i].burst = burst;
		if (pthread_create(&thread[i], NULL, work, &works[i]) != 0)
			rig_fail("pthread_create");
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		ns += works[i].ns;
	}
	pthread_barrier_destroy(&barrier);
	return (double)ns / threads / BURSTS / BURST;
}

static void
report(int threads, double goal)
{
	double span = measure(threads, burst_of_spans);
	double with = measure(threads, burst_with_attribute);
	double clocks = measure(threads, burst_of_clocks);
	double ticks = measure(threads, burst_of_ticks);

	printf("span: %.0f ns a span, %d thread%s (goal %.0f); with an "
	       "attribute %.0f\n",
	    span, threads, threads > 1 ? "s" : "", goal, with);
	printf("span: %.0f ns for two looks at the clock in the same way, "
	       "%.0f at the counter that spans use (limit)\n",
	    clocks, ticks);
	if (span > goal)
		printf("span: MISSED the goal of %.0f ns\n", goal);
}

int
main(void)
{
	struct poolscope_options options = { .ring_bytes = 1 << 20 };
	struct poolscope_stats stats;
	char socket[PATH_MAX];
	struct rig rig;
	pid_t agent;

	rig_up(&rig);
	agent = rig_start(&rig, "agent");
	snprintf(
	    socket, sizeof(socket), "%s", rig_path(&rig, "run/agent.sock"));
	options.socket = socket;
	if (poolscope_open(&options) != 0)
		rig_fail("poolscope_open");
	report(1, 60);
	report(THREADS, 200);
	poolscope_close();
	poolscope_get_stats(&stats);
	printf("span: %llu recorded, %llu dropped, %llu sent\n",
	    (unsigned long long)stats.recorded,
	    (unsigned long long)stats.dropped, (unsigned long long)stats.sent);
	kill(agent, SIGTERM);
	waitpid(agent, NULL, 0);
	rig_down(&rig);
	return stats.dropped > 0;
}
