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
	struct deadline_question *question; /* NULL: it waits for one */
};

struct deadline {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
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
		if (worker->question == NULL) {
			pthread_cond_wait(&deadline->changed, &deadline->mutex);
			continue;
		}
		pthread_mutex_unlock(&deadline->mutex);
		worker->question->ask(worker->question);
		pthread_mutex_lock(&deadline->mutex);
		worker->question->asked = false;
		worker->question = NULL;
		pthread_cond_broadcast(&deadline->changed);
	}
	pthread_mutex_unlock(&deadline->mutex);
	return 0;
}

static void
stop(void *arg)
{
	struct deadline *deadline = ((struct worker *)arg)->deadline;

	pthread_mutex_lock(&deadline->mutex);
	deadline->stop = true;
	pthread_cond_broadcast(&deadline->changed);
	pthread_mutex_unlock(&deadline->mutex);
}

void
deadline_open(struct deadline **made)
{
	struct deadline *deadline = memory_zero(1, sizeof(*deadline));
	pthread_condattr_t how;

	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_mutex_init(&deadline->mutex, NULL);
	pthread_cond_init(&deadline->changed, &how);
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
		stuck |= deadline->workers[i].question != NULL;
	pthread_mutex_unlock(&deadline->mutex);
	for (uint32_t i = 0; i < deadline->count; i++)
		if (stuck)
			thread_abandon(&deadline->workers[i].thread);
		else
			thread_stop(&deadline->workers[i].thread);
	if (stuck)
		return;
	pthread_cond_destroy(&deadline->changed);
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
		if (deadline->workers[i].question == NULL)
			return &deadline->workers[i];
	if (deadline->count == DEADLINE_THREADS_MAX)
		return NULL;
	worker = &deadline->workers[deadline->count];
	worker->deadline = deadline;
	how.arg = worker;
	if (thread_start(&worker->thread, &how, NULL, &err) != 0) {
		log_warn("%s", err.text);
		return NULL;
	}
	deadline->count++;
	return worker;
}

bool
deadline_ask(struct deadline *deadline, struct deadline_question *question)
{
	struct timespec until;
	struct worker *worker;
	bool answered = false;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += DEADLINE_MS * INT64_C(1000000);
	until.tv_sec += until.tv_nsec / NS_PER_SECOND;
	until.tv_nsec %= NS_PER_SECOND;
	pthread_mutex_lock(&deadline->mutex);
	worker = find_worker(deadline);
	if (worker != NULL) {
		question->asked = true;
		worker->question = question;
		pthread_cond_broadcast(&deadline->changed);
		while (question->asked)
			if (pthread_cond_timedwait(&deadline->changed,
				&deadline->mutex, &until) != 0)
				break;
		answered = !question->asked;
	}
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
