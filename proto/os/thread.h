/*
 * thread - a thread that reports its end to its creator.
 *
 * All threads of the programs are started here.  The loop handles signals: a
 * thread receives only those of its own faults.  A thread that serves (it has
 * `stop`) must not end by itself: if it does, `on_end` is called, and
 * thread_failure returns the reason.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_THREAD_H
#define PROTO_OS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "proto/base/err.h"

struct thread_options {
	const char *name; /* "the indexer", for messages; must stay valid */
	/* The work.  -1: it cannot continue; `err` has the reason. */
	int (*run)(void *arg, struct err *err);
	/* Ask `run` to return soon; called from the creator's thread.  NULL:
	 * it returns when its work is done, which is no failure. */
	void (*stop)(void *arg);
	void *arg;
	/* The thread gets a heartbeat (heartbeat.h), which the watchdog
	 * checks. */
	bool has_heartbeat;
	/* Where processors are scarce, other threads come first.  The threads
	 * that it starts are like it. */
	bool is_background;
};

/* Receives the end of a thread. */
struct thread_watcher {
	/* Called in the ending thread, as its last action, if it failed or
	 * returned without being asked to.  That of loop_watcher
	 * (net/loop/loop.h) ends the process. NULL: no call. */
	void (*on_end)(void *arg, const struct err *failure);
	void *arg;
};

/* Owned by the creator, zeroed before its first use; must not move while the
 * thread runs. */
struct thread {
	struct thread_options options;
	struct thread_watcher watcher;
	pthread_t id;
	bool started;
	atomic_bool stopping, ended, failed;
	struct err failure; /* after a failure */
};

/* `watcher` may be NULL. */
int thread_start(struct thread *thread, const struct thread_options *options,
    const struct thread_watcher *watcher, struct err *err);
/* Ask the thread to stop, and wait for its end.  Does nothing if it was not
 * started. */
void thread_stop(struct thread *thread);
/* Nobody waits for it: it lives as long as the process, and so must
 * `thread`. */
void thread_abandon(struct thread *thread);

/* Was it started, and has it not ended?  From any thread. */
bool thread_is_running(const struct thread *thread);
/* Has it failed?  The reason is "NAME: SENTENCE"; `err` may be NULL.  From any
 * thread. */
bool thread_failure(const struct thread *thread, struct err *err);

#endif
