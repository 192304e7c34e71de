/*
 * reconnect - a line that is not let in says why, and tries again.
 *
 * libzmq gives up for good when a door refuses a key; a daemon's line must
 * not, for the key may be allowed a minute later.  Says what is wrong once a
 * minute, tries the next of the server's keys at once and the same again after
 * some seconds, with what the key's file then has.  Says, too, when who is
 * behind the door comes and goes, and when nobody is there.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RECONNECT_H
#define PROTO_AUTH_RECONNECT_H

#include "proto/net/loop.h"

struct knock; /* opaque */

/* What messages call the other side, and what happens while it is away. */
struct knock_peer {
	const char *name, *meanwhile;
};

/* Loop, port and the peer's words must outlive it. */
struct knock *knock_new(
    struct loop *loop, struct port *port, const struct knock_peer *peer);
void knock_free(struct knock **knock);
/* From the port's callback. */
void knock_look(struct knock *knock);

#endif
