/*
 * thread - a thread that reports its end to whoever started it.
 *
 * All threads of the programs are started here.  Signals are the loop's: a
 * thread gets none, but those of its own faults.  A thread that serves (it has
 * `stop`) must not end by itself: when it does, `on_end` hears of it, and
 * thread_failure says why.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_THREAD_H
#define PROTO_OS_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "proto/base/err.h"

struct thread_options {
	const char *name; /* "the indexer", for messages; lives on */
	/* The work.  -1: it cannot go on, and why. */
	int (*run)(void *arg, struct err *err);
	/* Ask `run` to return, soon.  From the starter's thread.  NULL: it
	 * returns when its work is done, and that is no failure. */
	void (*stop)(void *arg);
	void *arg;
	/* It joins heartbeat.h, and so the watchdog. */
	bool has_heartbeat;
};

/* Who hears of the end. */
struct thread_watcher {
	/* From the thread that ends, as the last thing it does: it failed, or
	 * nobody had asked it to stop.  That of loop_watcher (net/loop.h) ends
	 * the process.  NULL: nobody. */
	void (*on_end)(void *arg, const struct err *failure);
	void *arg;
};

/* The starter's storage, zero-initialised, at one place while it runs. */
struct thread {
	struct thread_options options;
	struct thread_watcher watcher;
	pthread_t id;
	bool started;
	atomic_bool stopping, ended, failed;
	struct err failure; /* once it failed */
};

/* `watcher` may be NULL. */
int thread_start(struct thread *thread, const struct thread_options *options,
    const struct thread_watcher *watcher, struct err *err);
/* Ask it to stop, and wait for its end.  Nothing happens when it was not
 * started. */
void thread_stop(struct thread *thread);
/* It is not waited for: it goes with the process, and so must `thread`. */
void thread_abandon(struct thread *thread);

/* It was started, and has not reached its end.  From any thread. */
bool thread_is_running(const struct thread *thread);
/* It failed, and why ("NAME: SENTENCE"); `err` may be NULL.  From any thread.
 */
bool thread_failure(const struct thread *thread, struct err *err);

#endif
