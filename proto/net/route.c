/*
 * route - the routing frames of a message.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/route.h"

#include <assert.h>
#include <string.h>

bool
route_add(struct route *route, const void *at, size_t bytes)
{
	if (bytes > UINT8_MAX ||
	    route->bytes + 1 + bytes > ZSOCK_ROUTE_BYTES_MAX)
		return false;
	route->at[route->bytes] = (unsigned char)bytes;
	memcpy(route->at + route->bytes + 1, at, bytes);
	route->bytes += (uint16_t)(1 + bytes);
	return true;
}

bool
route_next(const struct route *route, uint32_t *offset, struct text *frame)
{
	if (*offset >= route->bytes)
		return false;
	frame->bytes = route->at[*offset];
	frame->at = (const char *)route->at + *offset + 1;
	*offset += 1 + frame->bytes;
	assert(*offset <= route->bytes);
	return true;
}
