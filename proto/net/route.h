/*
 * route - the way back to who sent a message, frame by frame.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ROUTE_H
#define PROTO_NET_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/net/zsock.h"

/* Append a routing frame; false when it does not fit. */
bool route_add(struct route *route, const void *at, size_t bytes);

/* Take the next frame, from *offset (0 to begin) on; false at the end. */
bool route_next(
    const struct route *route, uint32_t *offset, struct text *frame);

#endif
