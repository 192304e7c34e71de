/*
 * worker - a thread that does one piece of work at a time.
 *
 * The data of the work belongs to the thread from worker_begin until
 * worker_await returns, and to the caller otherwise.  If no thread can be
 * started, the caller's thread does all the work.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_WORKER_H
#define PROTO_OS_WORKER_H

#include <stdbool.h>

struct worker; /* opaque */

struct worker *worker_new(void (*work)(void *arg), void *arg);
/* Waits for work in progress. */
void worker_free(struct worker **worker);

/* Begin the work; waits for the previous work first. */
void worker_begin(struct worker *worker);
/* Is no work in progress? */
bool worker_is_idle(struct worker *worker);
/* Wait until no work is in progress. */
void worker_await(struct worker *worker);

#endif
