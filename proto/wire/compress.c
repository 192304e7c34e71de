/*
 * wire_compress - compress the body of a batch.
 * SPDX-License-Identifier: MIT
 */
#include <zstd.h>

#include "proto/wire/wire.h"

size_t
wire_compress(void *to, size_t room, struct text body)
{
	size_t bytes;

	if (body.bytes == 0 || body.bytes > WIRE_BODY_BYTES_MAX)
		return 0;
	/* Use the result only if it is smaller. */
	if (room > body.bytes - 1)
		room = body.bytes - 1;
	bytes = ZSTD_compress(to, room, body.at, body.bytes, 1);
	return ZSTD_isError(bytes) ? 0 : bytes;
}
