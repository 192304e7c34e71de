/*
 * thread - a thread that reports its end to its creator.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/thread.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "proto/os/heartbeat.h"

/* If these were blocked, they would end the process without their handlers. */
static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* A tenth of the share of another thread: it is slow then, but not idle. */
enum { BACKGROUND_NICE = 10 };

static void
run_watched(struct thread *thread, int *rc)
{
	const struct thread_options *options = &thread->options;
	struct heartbeat heartbeat;

	heartbeat_begin(&heartbeat, options->name);
	*rc = options->run(options->arg, &thread->failure);
	heartbeat_end(&heartbeat);
}

static void *
run(void *arg)
{
	struct thread *thread = arg;
	const struct thread_options *options = &thread->options;
	struct thread_watcher watcher = thread->watcher;
	struct err failure;
	int rc;

	/* Of the thread, on Linux.  If it is not allowed, nothing is lost. */
	if (options->is_background)
		(void)setpriority(PRIO_PROCESS, 0,
		    getpriority(PRIO_PROCESS, 0) + BACKGROUND_NICE);
	if (options->has_heartbeat)
		run_watched(thread, &rc);
	else
		rc = options->run(options->arg, &thread->failure);
	if (rc == 0 && options->stop != NULL && !atomic_load(&thread->stopping))
		rc = err_set(&thread->failure, "ended unexpectedly");
	if (rc != 0)
		err_prefix(&thread->failure, "%s", options->name);
	failure = thread->failure;
	atomic_store(&thread->failed, rc != 0);
	atomic_store(&thread->ended, true);
	if (rc != 0 && watcher.on_end != NULL)
		watcher.on_end(watcher.arg, &failure);
	return NULL;
}

int
thread_start(struct thread *thread, const struct thread_options *options,
    const struct thread_watcher *watcher, struct err *err)
{
	sigset_t blocked, before;
	int rc;

	*thread = (struct thread){ .options = *options };
	if (watcher != NULL)
		thread->watcher = *watcher;
	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	rc = pthread_create(&thread->id, NULL, run, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return err_set(err, "cannot start the thread of %s: %s",
		    options->name, strerror(rc));
	thread->started = true;
	return 0;
}

void
thread_stop(struct thread *thread)
{
	if (!thread->started)
		return;
	atomic_store(&thread->stopping, true);
	if (thread->options.stop != NULL)
		thread->options.stop(thread->options.arg);
	pthread_join(thread->id, NULL);
	thread->started = false;
}

void
thread_abandon(struct thread *thread)
{
	if (!thread->started)
		return;
	pthread_detach(thread->id);
	thread->started = false;
}

bool
thread_is_running(const struct thread *thread)
{
	return thread->started && !atomic_load(&thread->ended);
}

bool
thread_failure(const struct thread *thread, struct err *err)
{
	if (!atomic_load(&thread->failed))
		return false;
	if (err != NULL)
		*err = thread->failure;
	return true;
}
