/*
 * heartbeat - detects threads of this process that make no progress.
 *
 * A thread with a heartbeat beats whenever it has finished a piece of work,
 * and declares when it is idle.  A busy thread that does not beat is stuck,
 * and service/service.h then stops feeding the watchdog.  Threads that call
 * third-party drivers may block without harm and have no heartbeat.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_HEARTBEAT_H
#define PROTO_OS_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

struct heartbeat {
	const char *name;        /* "indexer" */
	_Atomic int64_t beat_ns; /* monotonic time of the last beat; 0: idle */
	struct heartbeat *next;  /* of the process */
	struct heartbeat *outer; /* what this one replaces; NULL: nothing */
};

/* Starts the heartbeat of the calling thread, idle; `name` must stay valid.
 * If the thread already has one, the new one replaces it until it ends. */
void heartbeat_begin(struct heartbeat *heartbeat, const char *name);
void heartbeat_end(struct heartbeat *heartbeat);

/* heartbeat_rest: the thread is idle until it beats again.  Both do nothing in
 * a thread without a heartbeat. */
void heartbeat_beat(void);
void heartbeat_rest(void);

/* The name of a busy thread that has not beaten for longer than `limit_ns`, or
 * NULL. */
const char *heartbeat_stuck(int64_t now_ns, int64_t limit_ns);

#endif
