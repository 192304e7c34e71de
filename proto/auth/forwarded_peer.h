/*
 * forwarded_peer - forwards a peer's identity through a broker to the
 * aggregator (proto/wire.md, "Listeners and keys").
 *
 * The last routing frame of a message: "PSV1" and the public key of the peer,
 * all zero if it has none, followed by the user of a peer of a Unix socket of
 * the broker.  The broker appends it on the way up, replies carry it back, and
 * the same broker removes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_FORWARDED_PEER_H
#define PROTO_AUTH_FORWARDED_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/net/zsock.h"

/* Append the frame for `peer`; false: the route has no room. */
bool forwarded_peer_add(struct route *route, const struct zsock_peer *peer);

/* The number of routing frames, not counting a last one that forwards an
 * identity; `*peer` gets that identity. */
uint32_t forwarded_peer_get(
    const struct route *route, struct zsock_peer *peer, bool *forwarded);

/* Remove the frame that forwarded_peer_add appended to the single routing frame
 * of a peer.  A frame that follows more frames is another broker's and
 * stays. */
void forwarded_peer_take(struct route *route);

#endif
