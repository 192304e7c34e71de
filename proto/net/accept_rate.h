/*
 * accept_rate - limits the connections a second to the TCP listeners of a
 * socket.
 *
 * A handshake costs a third of a millisecond of processor time, authorized or
 * not, and libzmq accepts everything that the kernel offers.  The rate may be
 * exceeded by a burst worth ten seconds (a fleet that reconnects).  After that
 * a kernel filter on the listening sockets drops every packet until the rate
 * is met again: new connections retry a second later, established connections
 * are unaffected.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ACCEPT_RATE_H
#define PROTO_NET_ACCEPT_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ACCEPT_RATE_LISTENERS_MAX = 16,
	ACCEPT_RATE_BURST_SECONDS = 10,
	ACCEPT_RATE_PAUSE_SECONDS = 5, /* the longest pause */
};

struct accept_rate {
	uint32_t per_second; /* 0: no limit */
	int listener[ACCEPT_RATE_LISTENERS_MAX];
	uint32_t listeners;
	/* When the connections so far would have arrived at exactly the rate.
	 */
	int64_t paid_ns;
	bool paused;
	uint64_t pauses;
};

void accept_rate_init(struct accept_rate *accept_rate, uint32_t per_second);

/* A socket starts or stops listening; sockets other than TCP are ignored. */
void accept_rate_add(struct accept_rate *accept_rate, int listener);
void accept_rate_remove(struct accept_rate *accept_rate, int listener);

/* A connection was accepted on this descriptor. */
void accept_rate_count(struct accept_rate *accept_rate, int fd, int64_t now_ns);
/* Ends a pause that is over: call it a few times a second during a pause. */
void accept_rate_check(struct accept_rate *accept_rate, int64_t now_ns);

#endif
