/*
 * heartbeat - do the threads of this process get on with their work?
 *
 * A thread that has begun its pulse beats whenever it has done a piece of work,
 * and says when it rests, waiting for more.  One that is busy and does not beat
 * hangs: service/service.h then no longer tells the watchdog that all is well.
 * Threads that call drivers of others may hang without harm and have no pulse.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_HEARTBEAT_H
#define PROTO_OS_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

struct heartbeat {
	const char *name;        /* "indexer" */
	_Atomic int64_t beat_ns; /* monotonic, the last one; 0: it rests */
	struct heartbeat *next, *outer; /* of the process; of the same thread */
};

/* That of the calling thread, resting; `name` must stay.  Where a thread has
 * one already the new one takes its place until it ends. */
void heartbeat_begin(struct heartbeat *heartbeat, const char *name);
void heartbeat_end(struct heartbeat *heartbeat);

/* In a thread without a pulse these do nothing. */
void heartbeat_beat(void);
void heartbeat_rest(void);

/* Some thread that is busy and has not beaten for longer than `limit_ns`, or
 * NULL. */
const char *heartbeat_stuck(int64_t now_ns, int64_t limit_ns);

#endif
