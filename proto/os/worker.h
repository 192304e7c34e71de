/*
 * worker - a piece of work at a time, done by a thread beside.
 *
 * What the work reads and writes is the thread's from beside_begin until
 * beside_await has returned, and the caller's otherwise.  Where no thread can
 * be had the caller does it all.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_WORKER_H
#define PROTO_OS_WORKER_H

struct beside; /* opaque */

struct beside *beside_new(void (*work)(void *arg), void *arg);
/* Waits for what was begun. */
void beside_free(struct beside **beside);

/* Begin; what was begun before is waited for. */
void beside_begin(struct beside *beside);
/* Wait until nothing is at work. */
void beside_await(struct beside *beside);

#endif
