/*
 * worker - a piece of work at a time, done by a thread beside.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

/* BEGUN is the thread's, IDLE is the caller's. */
enum state { IDLE, BEGUN, OVER };

struct beside {
	void (*work)(void *arg);
	void *arg;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of the state */
	pthread_cond_t changed;
	enum state state;
};

static void
set_state(struct beside *beside, enum state state)
{
	pthread_mutex_lock(&beside->lock);
	beside->state = state;
	pthread_cond_signal(&beside->changed);
	pthread_mutex_unlock(&beside->lock);
}

/* Waits while it is like that; returns what it became. */
static enum state
await(struct beside *beside, enum state state)
{
	pthread_mutex_lock(&beside->lock);
	while (beside->state == state)
		pthread_cond_wait(&beside->changed, &beside->lock);
	state = beside->state;
	pthread_mutex_unlock(&beside->lock);
	return state;
}

static void *
run(void *arg)
{
	struct beside *beside = arg;

	while (await(beside, IDLE) == BEGUN) {
		beside->work(beside->arg);
		set_state(beside, IDLE);
	}
	return NULL;
}

struct beside *
beside_new(void (*work)(void *arg), void *arg)
{
	struct beside *beside = calloc(1, sizeof(*beside));
	sigset_t all, before;

	if (beside == NULL)
		abort(); /* out of memory */
	beside->work = work;
	beside->arg = arg;
	pthread_mutex_init(&beside->lock, NULL);
	pthread_cond_init(&beside->changed, NULL);
	/* Signals are for the thread that everything else is done in. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	beside->has_thread =
	    pthread_create(&beside->thread, NULL, run, beside) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return beside;
}

void
beside_free(struct beside **beside)
{
	struct beside *old = *beside;

	if (old == NULL)
		return;
	if (old->has_thread) {
		beside_await(old);
		set_state(old, OVER);
		pthread_join(old->thread, NULL);
	}
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*beside = NULL;
}

void
beside_begin(struct beside *beside)
{
	beside_await(beside);
	if (beside->has_thread)
		set_state(beside, BEGUN);
	else
		beside->work(beside->arg);
}

void
beside_await(struct beside *beside)
{
	await(beside, BEGUN);
}
