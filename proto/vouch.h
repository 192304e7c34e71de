/*
 * vouch - whom a broker lets through, told to who keeps (proto/README.md,
 * "Doors").
 *
 * One routing frame, the last of the route: "PSV1" and the public key of the
 * peer, all zero when it has none (a Unix socket of the broker's).  The broker
 * puts it there on the way up, answers bring it back, the same broker takes it
 * off again.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_VOUCH_H
#define PROTO_VOUCH_H

#include <stdbool.h>

#include "proto/port.h"

/* Append the frame for `peer`; false: the route has no room. */
bool vouch_add(struct route *route, const struct port_peer *peer);

/* Is the last frame a vouching one?  For whom is then in `*peer`. */
bool vouch_get(const struct route *route, struct port_peer *peer);

/* Take off the frame that vouch_add put behind one frame of a peer; one of
 * another broker (behind more frames) stays. */
void vouch_take(struct route *route);

#endif
