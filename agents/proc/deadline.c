/*
 * deadline - asks the system what it may never answer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/deadline.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/thread.h"

struct worker {
	struct deadline *deadline;
	struct thread thread;
	pthread_cond_t wake;
	/* Those that it has still to ask; whoever has waited long enough for
	 * one of them takes the others back. */
	struct deadline_question **rest;
	uint32_t count;
	bool busy;
};

struct deadline {
	pthread_mutex_t mutex;
	pthread_cond_t answered;
	struct worker workers[DEADLINE_THREADS_MAX];
	uint32_t count; /* that were started */
	bool stop;
};

static int
work(void *arg, struct err *err)
{
	struct worker *worker = arg;
	struct deadline *deadline = worker->deadline;

	(void)err;
	pthread_mutex_lock(&deadline->mutex);
	while (!deadline->stop) {
		if (worker->count > 0) {
			struct deadline_question *question = *worker->rest++;

			worker->count--;
			question->asked = true;
			pthread_mutex_unlock(&deadline->mutex);
			question->ask(question);
			pthread_mutex_lock(&deadline->mutex);
			question->asked = false;
			continue;
		}
		if (worker->busy)
			pthread_cond_signal(&deadline->answered);
		worker->busy = false;
		pthread_cond_wait(&worker->wake, &deadline->mutex);
	}
	pthread_mutex_unlock(&deadline->mutex);
	return 0;
}

static void
stop(void *arg)
{
	struct worker *worker = arg;

	pthread_mutex_lock(&worker->deadline->mutex);
	worker->deadline->stop = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->deadline->mutex);
}

void
deadline_open(struct deadline **made)
{
	struct deadline *deadline = memory_zero(1, sizeof(*deadline));
	pthread_condattr_t how;

	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_mutex_init(&deadline->mutex, NULL);
	pthread_cond_init(&deadline->answered, &how);
	pthread_condattr_destroy(&how);
	*made = deadline;
}

void
deadline_close(struct deadline **gone)
{
	struct deadline *deadline = *gone;
	bool stuck = false;

	*gone = NULL;
	if (deadline == NULL)
		return;
	pthread_mutex_lock(&deadline->mutex);
	deadline->stop = true;
	for (uint32_t i = 0; i < deadline->count; i++)
		stuck |= deadline->workers[i].busy;
	pthread_mutex_unlock(&deadline->mutex);
	for (uint32_t i = 0; i < deadline->count; i++) {
		struct worker *worker = &deadline->workers[i];

		if (stuck) {
			thread_abandon(&worker->thread);
			continue;
		}
		thread_stop(&worker->thread);
		pthread_cond_destroy(&worker->wake);
	}
	if (stuck)
		return;
	pthread_cond_destroy(&deadline->answered);
	pthread_mutex_destroy(&deadline->mutex);
	free(deadline);
}

/* A thread without a question; NULL: there is none.  Call with the lock. */
static struct worker *
find_worker(struct deadline *deadline)
{
	struct thread_options how = { .name = "a thread that asks the system",
		.run = work,
		.stop = stop };
	struct worker *worker;
	struct err err = { 0 };

	for (uint32_t i = 0; i < deadline->count; i++)
		if (!deadline->workers[i].busy)
			return &deadline->workers[i];
	if (deadline->count == DEADLINE_THREADS_MAX)
		return NULL;
	worker = &deadline->workers[deadline->count];
	worker->deadline = deadline;
	pthread_cond_init(&worker->wake, NULL);
	how.arg = worker;
	if (thread_start(&worker->thread, &how, NULL, &err) != 0) {
		log_warn("%s", err.text);
		pthread_cond_destroy(&worker->wake);
		return NULL;
	}
	deadline->count++;
	return worker;
}

static struct timespec
next_deadline(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += DEADLINE_MS * INT64_C(1000000);
	until.tv_sec += until.tv_nsec / NS_PER_SECOND;
	until.tv_nsec %= NS_PER_SECOND;
	return until;
}

/* Give questions to a thread that has none; NULL: there is none.  Call with the
 * lock. */
static struct worker *
hand_over(struct deadline *deadline, struct deadline_question **questions,
    uint32_t count)
{
	struct worker *worker = find_worker(deadline);

	if (worker == NULL)
		return NULL;
	worker->rest = questions;
	worker->count = count;
	worker->busy = true;
	pthread_cond_signal(&worker->wake);
	return worker;
}

/* As long as the thread gets on, go on waiting.  Call with the lock. */
static void
wait_for(struct deadline *deadline, const struct worker *worker)
{
	struct timespec until = next_deadline();
	uint32_t left = worker->count;

	while (worker->busy) {
		if (pthread_cond_timedwait(
			&deadline->answered, &deadline->mutex, &until) == 0)
			continue;
		if (worker->count == left)
			break;
		left = worker->count;
		until = next_deadline();
	}
}

bool
deadline_ask(struct deadline *deadline, struct deadline_question **questions,
    uint32_t count)
{
	uint32_t before = count + 1;
	bool all = true;

	pthread_mutex_lock(&deadline->mutex);
	while (count > 0 && count < before) {
		struct worker *worker = hand_over(deadline, questions, count);

		if (worker == NULL)
			break;
		before = count;
		wait_for(deadline, worker);
		all &= !worker->busy;
		questions = worker->rest;
		count = worker->count;
		worker->count = 0;
	}
	pthread_mutex_unlock(&deadline->mutex);
	return all && count == 0;
}

void
deadline_start(struct deadline *deadline, struct deadline_question *question)
{
	struct worker *worker;

	pthread_mutex_lock(&deadline->mutex);
	question->self = question;
	worker = hand_over(deadline, &question->self, 1);
	question->asked = worker != NULL;
	pthread_mutex_unlock(&deadline->mutex);
}

bool
deadline_wait(struct deadline *deadline, struct deadline_question *question)
{
	struct timespec until = next_deadline();
	bool answered;

	pthread_mutex_lock(&deadline->mutex);
	while (question->asked)
		if (pthread_cond_timedwait(
			&deadline->answered, &deadline->mutex, &until) != 0)
			break;
	answered = !question->asked;
	pthread_mutex_unlock(&deadline->mutex);
	return answered;
}

bool
deadline_is_asked(
    struct deadline *deadline, const struct deadline_question *question)
{
	bool asked;

	pthread_mutex_lock(&deadline->mutex);
	asked = question->asked;
	pthread_mutex_unlock(&deadline->mutex);
	return asked;
}
