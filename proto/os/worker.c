/*
 * worker - a thread that does one piece of work at a time.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/worker.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/thread.h"

/* BEGUN: the thread may proceed; IDLE: the caller may. */
enum state { IDLE, BEGUN, OVER };

struct worker {
	void (*work)(void *arg);
	void *arg;
	struct thread thread;
	bool has_thread;
	pthread_mutex_t lock; /* protects the state */
	pthread_cond_t changed;
	enum state state;
};

static void
set_state(struct worker *worker, enum state state)
{
	pthread_mutex_lock(&worker->lock);
	worker->state = state;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

/* Wait while the state has this value; returns the new one. */
static enum state
await(struct worker *worker, enum state state)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->state == state)
		pthread_cond_wait(&worker->changed, &worker->lock);
	state = worker->state;
	pthread_mutex_unlock(&worker->lock);
	return state;
}

static int
run(void *arg, struct err *err)
{
	struct worker *worker = arg;

	(void)err;
	while (await(worker, IDLE) == BEGUN) {
		worker->work(worker->arg);
		set_state(worker, IDLE);
	}
	return 0;
}

static void
stop(void *arg)
{
	set_state(arg, OVER);
}

struct worker *
worker_new(void (*work)(void *arg), void *arg)
{
	struct worker *worker = memory_zero(1, sizeof(*worker));
	const struct thread_options how = {
		.name = "a worker", .run = run, .stop = stop, .arg = worker
	};

	worker->work = work;
	worker->arg = arg;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	worker->has_thread =
	    thread_start(&worker->thread, &how, NULL, NULL) == 0;
	return worker;
}

void
worker_free(struct worker **worker)
{
	struct worker *old = *worker;

	if (old == NULL)
		return;
	if (old->has_thread) {
		worker_await(old);
		thread_stop(&old->thread);
	}
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*worker = NULL;
}

void
worker_begin(struct worker *worker)
{
	worker_await(worker);
	if (worker->has_thread)
		set_state(worker, BEGUN);
	else
		worker->work(worker->arg);
}

bool
worker_is_idle(struct worker *worker)
{
	bool idle;

	pthread_mutex_lock(&worker->lock);
	idle = worker->state != BEGUN;
	pthread_mutex_unlock(&worker->lock);
	return idle;
}

void
worker_await(struct worker *worker)
{
	await(worker, BEGUN);
}
