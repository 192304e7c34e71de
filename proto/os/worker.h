/*
 * worker - a piece of work at a time, done by a thread beside.
 *
 * What the work reads and writes is the thread's from worker_begin until
 * worker_await has returned, and the caller's otherwise.  Where no thread can
 * be had the caller does it all.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_WORKER_H
#define PROTO_OS_WORKER_H

struct worker; /* opaque */

struct worker *worker_new(void (*work)(void *arg), void *arg);
/* Waits for what was begun. */
void worker_free(struct worker **worker);

/* Begin; what was begun before is waited for. */
void worker_begin(struct worker *worker);
/* Wait until nothing is at work. */
void worker_await(struct worker *worker);

#endif
