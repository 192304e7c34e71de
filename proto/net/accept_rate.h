/*
 * accept_rate - how many connections a second may come to the doors of TCP of a
 * port.
 *
 * A handshake costs us a third of a millisecond, whoever comes, and libzmq
 * accepts whatever the kernel has.  Beyond a rate, and a burst of ten seconds
 * of it (a fleet that comes back), the listeners get a filter of the kernel's
 * that lets no packet through: who knocks meanwhile knocks again a second
 * later, and who is in notices nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ACCEPT_RATE_H
#define PROTO_NET_ACCEPT_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ACCEPT_RATE_LISTENERS_MAX = 16,
	ACCEPT_RATE_BURST_SECONDS = 10,
	ACCEPT_RATE_SHUT_SECONDS = 5, /* at most, in one piece */
};

struct accept_rate {
	uint32_t per_second; /* 0: any number */
	int listener[ACCEPT_RATE_LISTENERS_MAX];
	uint32_t listeners;
	int64_t paid_ns; /* when what came would have come at the rate */
	bool shut;
	uint64_t shuts; /* how often */
};

void accept_rate_init(struct accept_rate *accept_rate, uint32_t per_second);

/* A socket listens, no longer does; others than of TCP are not looked at. */
void accept_rate_add(struct accept_rate *accept_rate, int listener);
void accept_rate_remove(struct accept_rate *accept_rate, int listener);

/* Somebody came in by this descriptor. */
void accept_rate_count(struct accept_rate *accept_rate, int fd, int64_t now_ns);
/* While it is shut, a few times a second: open it again when it is time. */
void accept_rate_look(struct accept_rate *accept_rate, int64_t now_ns);

#endif
