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
	TURNSTILE_LISTENERS_MAX = 16,
	TURNSTILE_BURST_SECONDS = 10,
	TURNSTILE_SHUT_SECONDS = 5, /* at most, in one piece */
};

struct turnstile {
	uint32_t per_second; /* 0: any number */
	int listener[TURNSTILE_LISTENERS_MAX];
	uint32_t listeners;
	int64_t paid_ns; /* when what came would have come at the rate */
	bool shut;
	uint64_t shuts; /* how often */
};

void turnstile_init(struct turnstile *turnstile, uint32_t per_second);

/* A socket listens, no longer does; others than of TCP are not looked at. */
void turnstile_add(struct turnstile *turnstile, int listener);
void turnstile_remove(struct turnstile *turnstile, int listener);

/* Somebody came in by this descriptor. */
void turnstile_count(struct turnstile *turnstile, int fd, int64_t now_ns);
/* While it is shut, a few times a second: open it again when it is time. */
void turnstile_look(struct turnstile *turnstile, int64_t now_ns);

#endif
