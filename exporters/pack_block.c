/*
 * pack_block - one piece of memory in zlib's format.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/pack_block.h"

#include <assert.h>
#include <stdlib.h>
#define ZLIB_CONST /* deflate only reads what it is given */
#include <zlib.h>

enum { LEVEL = 1 };

struct pack_block {
	z_stream z;
	unsigned char *out;
	size_t room;
};

struct pack_block *
pack_block_new(void)
{
	struct pack_block *pack = calloc(1, sizeof(*pack));

	if (pack == NULL || deflateInit(&pack->z, LEVEL) != Z_OK)
		abort(); /* out of memory */
	return pack;
}

void
pack_block_free(struct pack_block **pack)
{
	deflateEnd(&(*pack)->z);
	free((*pack)->out);
	free(*pack);
	*pack = NULL;
}

struct text
pack_block(struct pack_block *pack, const void *bytes, size_t count)
{
	size_t most = deflateBound(&pack->z, count);
	int rc;

	if (pack->room < most) {
		pack->room = most;
		free(pack->out);
		pack->out = malloc(most);
		if (pack->out == NULL)
			abort(); /* out of memory */
	}
	pack->z.next_in = bytes;
	pack->z.avail_in = (uInt)count;
	pack->z.next_out = pack->out;
	pack->z.avail_out = (uInt)pack->room;
	rc = deflate(&pack->z, Z_FINISH);
	assert(rc == Z_STREAM_END);
	count = pack->room - pack->z.avail_out;
	rc = deflateReset(&pack->z);
	assert(rc == Z_OK);
	return (struct text){ (const char *)pack->out, (uint32_t)count };
}
