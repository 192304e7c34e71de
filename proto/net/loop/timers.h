/*
 * timers - the timers of a loop; only loop.c uses it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_LOOP_TIMERS_H
#define PROTO_NET_LOOP_TIMERS_H

#include <stdint.h>

#include "proto/net/loop/loop_timer.h"

/* Not sorted: there are few, and scanning them all is cheap. */
struct timers {
	struct loop_timer *set[LOOP_TIMERS_MAX];
	uint32_t count;
};

/* As loop_set_timer and loop_stop_timer. */
void timers_set(struct timers *timers, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns);
void timers_stop(struct timers *timers, struct loop_timer *timer);

/* Call the timers that are due. */
void timers_run(struct timers *timers);

/* How long epoll_wait may sleep; -1: for ever.  Rounded up: a timer is at most
 * 1 ms late and never early. */
int timers_sleep_ms(const struct timers *timers);

#endif
