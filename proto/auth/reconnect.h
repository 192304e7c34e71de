/*
 * reconnect - a line that is not let in says why, and tries again.
 *
 * libzmq gives up for good when a listener refuses a key; a daemon's line must
 * not, for the key may be allowed a minute later.  Says what is wrong once a
 * minute, tries the next of the server's keys at once and the same again after
 * some seconds, with what the key's file then has.  Says, too, when who is
 * behind the listener comes and goes, and when nobody is there.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RECONNECT_H
#define PROTO_AUTH_RECONNECT_H

#include "proto/net/loop.h"

struct reconnect; /* opaque */

/* What messages call the other side, and what happens while it is away. */
struct reconnect_peer {
	const char *name, *meanwhile;
};

/* Loop, port and the peer's words must outlive it. */
struct reconnect *reconnect_new(
    struct loop *loop, struct zsock *zsock, const struct reconnect_peer *peer);
void reconnect_free(struct reconnect **reconnect);
/* From the port's callback. */
void reconnect_look(struct reconnect *reconnect);

#endif
