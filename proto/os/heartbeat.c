/*
 * heartbeat - do the threads of this process get on with their work?
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/heartbeat.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "proto/os/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pulse *all;
static _Thread_local struct pulse *mine;

void
pulse_begin(struct pulse *pulse, const char *name)
{
	pulse->name = name;
	atomic_store(&pulse->beat_ns, 0);
	pulse->outer = mine;
	pulse_rest();
	mine = pulse;
	pthread_mutex_lock(&lock);
	pulse->next = all;
	all = pulse;
	pthread_mutex_unlock(&lock);
}

void
pulse_end(struct pulse *pulse)
{
	struct pulse **at = &all;

	assert(mine == pulse);
	pthread_mutex_lock(&lock);
	while (*at != pulse)
		at = &(*at)->next;
	*at = pulse->next;
	pthread_mutex_unlock(&lock);
	mine = pulse->outer;
}

void
pulse_beat(void)
{
	if (mine != NULL)
		atomic_store_explicit(
		    &mine->beat_ns, clock_monotonic_ns(), memory_order_relaxed);
}

void
pulse_rest(void)
{
	if (mine != NULL)
		atomic_store_explicit(&mine->beat_ns, 0, memory_order_relaxed);
}

const char *
pulse_stuck(int64_t now_ns, int64_t limit_ns)
{
	const char *name = NULL;

	pthread_mutex_lock(&lock);
	for (struct pulse *p = all; p != NULL && name == NULL; p = p->next) {
		int64_t beat_ns =
		    atomic_load_explicit(&p->beat_ns, memory_order_relaxed);

		if (beat_ns != 0 && now_ns - beat_ns > limit_ns)
			name = p->name;
	}
	pthread_mutex_unlock(&lock);
	return name;
}
