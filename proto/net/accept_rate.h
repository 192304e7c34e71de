/*
 * accept_rate - limits the connections a second to the TCP listeners of a
 * socket.
 *
 * A handshake costs a third of a millisecond whoever connects, and libzmq
 * accepts everything that the kernel offers.  Above the rate, and a burst of
 * ten seconds of it (a fleet that reconnects), the listening sockets get a
 * kernel filter that drops every packet: new connections retry a second later,
 * established connections are unaffected.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ACCEPT_RATE_H
#define PROTO_NET_ACCEPT_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ACCEPT_RATE_LISTENERS_MAX = 16,
	ACCEPT_RATE_BURST_SECONDS = 10,
	ACCEPT_RATE_SHUT_SECONDS = 5, /* maximum length of one pause */
};

struct accept_rate {
	uint32_t per_second; /* 0: no limit */
	int listener[ACCEPT_RATE_LISTENERS_MAX];
	uint32_t listeners;
	int64_t paid_ns; /* when the connections so far would have come at the
			    rate */
	bool shut;
	uint64_t shuts; /* number of pauses */
};

void accept_rate_init(struct accept_rate *accept_rate, uint32_t per_second);

/* A socket begins or ends to listen; sockets other than TCP are ignored. */
void accept_rate_add(struct accept_rate *accept_rate, int listener);
void accept_rate_remove(struct accept_rate *accept_rate, int listener);

/* A connection was accepted on this descriptor. */
void accept_rate_count(struct accept_rate *accept_rate, int fd, int64_t now_ns);
/* Call it a few times a second during a pause: ends the pause when it is
 * time. */
void accept_rate_look(struct accept_rate *accept_rate, int64_t now_ns);

#endif
