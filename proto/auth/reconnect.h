/*
 * reconnect - connects again when a listener refuses the key, and logs why.
 *
 * libzmq gives up for good when a listener refuses a key.  A daemon must not:
 * the key may be authorized a minute later.  So this tries the next server key
 * of the key file at once, and after that reads the key file again and connects
 * every five seconds.  Logs the reason once a minute, and logs when the peer
 * connects, disconnects or cannot be reached.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RECONNECT_H
#define PROTO_AUTH_RECONNECT_H

#include "proto/net/loop/loop.h"

struct reconnect; /* opaque */

/* For log messages: what the peer is ("the aggregator"), and what the program
 * does while the peer is away. */
struct reconnect_peer {
	const char *name, *meanwhile;
};

/* Loop, socket and the strings must outlive it. */
struct reconnect *reconnect_new(
    struct loop *loop, struct zsock *zsock, const struct reconnect_peer *peer);
void reconnect_free(struct reconnect **reconnect);
/* Call it from the socket's callback. */
void reconnect_check(struct reconnect *reconnect);

#endif
