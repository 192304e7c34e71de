/*
 * route - the routing frames of a message, which lead back to its sender.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ROUTE_H
#define PROTO_NET_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

enum { ZSOCK_ROUTE_BYTES_MAX = 256 }; /* of all routing frames of a message */

/* The routing frames of a message, each a length byte and its bytes.  A reply
 * is sent with the route of the message that it answers. */
struct route {
	uint16_t bytes;
	unsigned char at[ZSOCK_ROUTE_BYTES_MAX];
};

/* Append a routing frame; false when it does not fit. */
bool route_add(struct route *route, const void *at, size_t bytes);

/* Get the next frame from *offset (initially 0); false at the end. */
bool route_next(
    const struct route *route, uint32_t *offset, struct text *frame);

#endif
