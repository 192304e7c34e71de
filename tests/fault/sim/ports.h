/*
 * ports - of the broker in a world: queues with a bound, and what the real
 * broker/relay/relay.c calls (ports, a loop, a clock, random numbers, the log).
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SIM_PORTS_H
#define TESTS_FAULT_SIM_PORTS_H

#include "broker/relay/relay.h"
#include "tests/fault/sim/sim.h"

enum { PORTS_QUEUE = 64, PORTS_TIMERS = 4, PORTS_LINE = 4 /* messages */ };

struct zsock {
	struct zsock_counters counters;
	struct ports_queued {
		struct route route;
		uint32_t bytes;
		unsigned char frame[SIM_FLIGHT_BYTES];
	} queue[PORTS_QUEUE];
	uint32_t first, count;
	void (*on_zsock)(void *arg, struct zsock *port);
	void *arg;
	bool was_full; /* returned ZSOCK_AGAIN */
};

/* Into the listener, out of the line to the aggregator (up), into it from
 * there. */
struct ports {
	struct sim *sim;
	struct zsock listener, up, line;
	struct loop_timer *timer[PORTS_TIMERS];
};

extern struct ports ports;

/* At the end of a queue, unless it has `bound`; from its beginning (valid
 * until more than its bound came after), or NULL. */
bool ports_put(struct zsock *zsock, uint32_t bound, const struct route *route,
    struct text frame);
const struct ports_queued *ports_get(struct zsock *zsock);

/* The one frame of a route from a machine, and back. */
struct route ports_route(int machine);
int ports_machine(const struct route *route);

#endif
