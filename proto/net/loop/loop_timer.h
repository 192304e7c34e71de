/*
 * loop_timer - a timer of a loop.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LOOP_LOOP_TIMER_H
#define PROTO_NET_LOOP_LOOP_TIMER_H

#include <stdint.h>

enum { LOOP_TIMERS_MAX = 64 }; /* set at a time, in one loop */

/* The caller's storage, zero-initialised; must live while it is set. */
struct loop_timer {
	int64_t at_ns;     /* monotonic; 0: not set */
	int64_t period_ns; /* 0: once */
	void (*on_timer)(void *arg, struct loop_timer *timer);
	void *arg;
	uint32_t slot; /* private to the loop */
};

#endif
