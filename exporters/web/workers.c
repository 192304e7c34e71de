/*
 * web_workers - threads that answer questions while the loop goes on.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/thread.h"

struct queue {
	struct web_task *first, **end;
	uint32_t count;
};

struct member {
	struct web_workers *of;
	struct thread thread;
	struct web_reader reader;
};

struct web_workers {
	struct loop *loop;
	void (*on_done)(void *arg, struct web_task *task);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue waiting, done;
	bool stopping;
	pthread_mutex_t store; /* held by the worker that reads one */
	struct member members[WEB_WORKERS];
};

static void
queue_init(struct queue *queue)
{
	*queue = (struct queue){ .end = &queue->first };
}

static void
queue_put(struct queue *queue, struct web_task *task)
{
	task->next = NULL;
	*queue->end = task;
	queue->end = &task->next;
	queue->count++;
}

static struct web_task *
queue_take(struct queue *queue)
{
	struct web_task *task = queue->first;

	if (task == NULL)
		return NULL;
	queue->first = task->next;
	if (queue->first == NULL)
		queue->end = &queue->first;
	queue->count--;
	return task;
}

/* ---- a worker ---- */

static void
ask(struct member *member, struct web_task *task)
{
	bool is_store = source_reads_store(member->reader.options);

	if (!is_store) {
		web_ask(&member->reader, task);
		return;
	}
	pthread_mutex_lock(&member->of->store);
	web_ask(&member->reader, task);
	web_reader_close(&member->reader);
	pthread_mutex_unlock(&member->of->store);
}

static int
work(void *arg, struct err *err)
{
	struct member *member = arg;
	struct web_workers *workers = member->of;
	struct web_task *task;

	(void)err;
	pthread_mutex_lock(&workers->lock);
	for (;;) {
		while (!workers->stopping && workers->waiting.count == 0)
			pthread_cond_wait(&workers->changed, &workers->lock);
		if (workers->stopping)
			break;
		task = queue_take(&workers->waiting);
		pthread_mutex_unlock(&workers->lock);
		ask(member, task);
		pthread_mutex_lock(&workers->lock);
		queue_put(&workers->done, task);
		loop_wake(workers->loop);
	}
	pthread_mutex_unlock(&workers->lock);
	web_reader_close(&member->reader);
	return 0;
}

static void
stop(void *arg)
{
	struct member *member = arg;
	struct web_workers *workers = member->of;

	pthread_mutex_lock(&workers->lock);
	workers->stopping = true;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

/* ---- the loop's side ---- */

static void
on_wake(void *arg)
{
	struct web_workers *workers = arg;
	struct web_task *task;

	do {
		pthread_mutex_lock(&workers->lock);
		task = queue_take(&workers->done);
		pthread_mutex_unlock(&workers->lock);
		if (task != NULL)
			workers->on_done(workers->arg, task);
	} while (task != NULL);
}

bool
web_workers_begin(struct web_workers *workers, struct web_task *task)
{
	bool taken;

	pthread_mutex_lock(&workers->lock);
	taken = workers->waiting.count < WEB_TASKS_MAX;
	if (taken) {
		queue_put(&workers->waiting, task);
		pthread_cond_signal(&workers->changed);
	}
	pthread_mutex_unlock(&workers->lock);
	return taken;
}

int
web_workers_start(struct web_workers **made, struct loop *loop,
    const struct source_options *options, struct web_cache *cache,
    void (*on_done)(void *arg, struct web_task *task), void *arg,
    struct err *err)
{
	struct web_workers *workers = *made = memory_zero(1, sizeof(*workers));
	struct thread_watcher watcher = loop_watcher(loop);

	workers->loop = loop;
	workers->on_done = on_done;
	workers->arg = arg;
	pthread_mutex_init(&workers->lock, NULL);
	pthread_mutex_init(&workers->store, NULL);
	pthread_cond_init(&workers->changed, NULL);
	queue_init(&workers->waiting);
	queue_init(&workers->done);
	loop_set_wake(loop, on_wake, workers);
	for (int i = 0; i < WEB_WORKERS; i++) {
		struct member *member = &workers->members[i];
		const struct thread_options how = { .name = "a worker",
			.run = work,
			.stop = stop,
			.arg = member };

		member->of = workers;
		member->reader.options = options;
		member->reader.cache = cache;
		if (thread_start(&member->thread, &how, &watcher, err) != 0)
			return -1;
	}
	return 0;
}

void
web_workers_stop(struct web_workers **stopped)
{
	struct web_workers *workers = *stopped;
	struct web_task *task;

	if (workers == NULL)
		return;
	for (int i = 0; i < WEB_WORKERS; i++)
		thread_stop(&workers->members[i].thread);
	on_wake(workers);
	while ((task = queue_take(&workers->waiting)) != NULL) {
		task->status = 503;
		err_set(&task->err, "the server stops");
		workers->on_done(workers->arg, task);
	}
	loop_set_wake(workers->loop, NULL, NULL);
	pthread_cond_destroy(&workers->changed);
	pthread_mutex_destroy(&workers->store);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
	*stopped = NULL;
}
