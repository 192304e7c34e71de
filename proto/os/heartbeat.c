/*
 * heartbeat - detects threads of this process that make no progress.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/heartbeat.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "proto/os/clock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct heartbeat *all;
static _Thread_local struct heartbeat *mine;

void
heartbeat_begin(struct heartbeat *heartbeat, const char *name)
{
	heartbeat->name = name;
	atomic_store(&heartbeat->beat_ns, 0);
	heartbeat->outer = mine;
	heartbeat_rest();
	mine = heartbeat;
	pthread_mutex_lock(&lock);
	heartbeat->next = all;
	all = heartbeat;
	pthread_mutex_unlock(&lock);
}

void
heartbeat_end(struct heartbeat *heartbeat)
{
	struct heartbeat **at = &all;

	assert(mine == heartbeat);
	pthread_mutex_lock(&lock);
	while (*at != heartbeat)
		at = &(*at)->next;
	*at = heartbeat->next;
	pthread_mutex_unlock(&lock);
	mine = heartbeat->outer;
}

void
heartbeat_beat(void)
{
	if (mine != NULL)
		atomic_store_explicit(
		    &mine->beat_ns, clock_monotonic_ns(), memory_order_relaxed);
}

void
heartbeat_rest(void)
{
	if (mine != NULL)
		atomic_store_explicit(&mine->beat_ns, 0, memory_order_relaxed);
}

const char *
heartbeat_stuck(int64_t now_ns, int64_t limit_ns)
{
	const char *name = NULL;

	pthread_mutex_lock(&lock);
	for (struct heartbeat *p = all; p != NULL && name == NULL;
	     p = p->next) {
		int64_t beat_ns =
		    atomic_load_explicit(&p->beat_ns, memory_order_relaxed);

		if (beat_ns != 0 && now_ns - beat_ns > limit_ns)
			name = p->name;
	}
	pthread_mutex_unlock(&lock);
	return name;
}
