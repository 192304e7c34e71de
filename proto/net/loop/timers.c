/*
 * timers - the timers of a loop.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/loop/timers.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>

#include "proto/os/clock.h"

enum { NS_PER_MS = 1000000 };

void
timers_set(struct timers *timers, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns)
{
	timer->at_ns = at_ns;
	timer->period_ns = period_ns;
	if (timer->slot != 0)
		return;
	assert(timers->count < LOOP_TIMERS_MAX);
	timers->set[timers->count++] = timer;
	timer->slot = timers->count;
}

void
timers_stop(struct timers *timers, struct loop_timer *timer)
{
	struct loop_timer *last;

	timer->at_ns = 0;
	if (timer->slot == 0)
		return;
	assert(timers->set[timer->slot - 1] == timer);
	last = timers->set[--timers->count];
	timers->set[timer->slot - 1] = last;
	last->slot = timer->slot;
	timer->slot = 0;
}

static struct loop_timer *
first(const struct timers *timers)
{
	struct loop_timer *found = NULL;
	uint32_t i;

	for (i = 0; i < timers->count; i++)
		if (found == NULL || timers->set[i]->at_ns < found->at_ns)
			found = timers->set[i];
	return found;
}

void
timers_run(struct timers *timers)
{
	struct loop_timer *timer;
	int64_t now;
	int i;

	if (timers->count == 0)
		return;
	now = clock_monotonic_ns();
	/* A timer that sets itself to the past must not starve the loop. */
	for (i = 0; i < LOOP_TIMERS_MAX; i++) {
		timer = first(timers);
		if (timer == NULL || timer->at_ns > now)
			return;
		if (timer->period_ns > 0)
			timer->at_ns +=
			    timer->period_ns *
			    ((now - timer->at_ns) / timer->period_ns + 1);
		else
			timers_stop(timers, timer);
		timer->on_timer(timer->arg, timer);
	}
}

int
timers_sleep_ms(const struct timers *timers)
{
	const struct loop_timer *timer = first(timers);
	int64_t left, ms;

	if (timer == NULL)
		return -1;
	left = timer->at_ns - clock_monotonic_ns();
	if (left <= 0)
		return 0;
	ms = (left - 1) / NS_PER_MS + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}
