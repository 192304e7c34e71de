/*
 * reconnect - connects again when a listener refuses the key, and logs why.
 *
 * libzmq gives up for good when a listener refuses a key.  A daemon must not:
 * the key may be authorized a minute later.  Logs the reason once a minute,
 * tries the server's next key at once, and tries the same key again after some
 * seconds with the present content of the key file.  Also logs when the peer
 * connects, disconnects or cannot be reached.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RECONNECT_H
#define PROTO_AUTH_RECONNECT_H

#include "proto/net/loop/loop.h"

struct reconnect; /* opaque */

/* How messages name the peer, and what the program does while it is away. */
struct reconnect_peer {
	const char *name, *meanwhile;
};

/* Loop, socket and the words must outlive it. */
struct reconnect *reconnect_new(
    struct loop *loop, struct zsock *zsock, const struct reconnect_peer *peer);
void reconnect_free(struct reconnect **reconnect);
/* From the socket's callback. */
void reconnect_look(struct reconnect *reconnect);

#endif
