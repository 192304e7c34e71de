/*
 * route - the routing frames of a message, which lead back to its sender.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ROUTE_H
#define PROTO_NET_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/net/zsock.h"

/* Append a routing frame; false when it does not fit. */
bool route_add(struct route *route, const void *at, size_t bytes);

/* Get the next frame from *offset (initially 0); false at the end. */
bool route_next(
    const struct route *route, uint32_t *offset, struct text *frame);

#endif
