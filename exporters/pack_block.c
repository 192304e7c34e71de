/*
 * pack_block - one piece of memory, compressed as a whole.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/pack_block.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdlib.h>

/* Of traces, 2 takes twice as long for a twentieth less. */
enum { LEVEL = 1 };

struct pack_block {
	struct libdeflate_compressor *deflate;
	enum pack_format format;
	unsigned char *out;
	size_t room;
};

struct pack_block *
pack_block_new(enum pack_format format)
{
	struct pack_block *pack = calloc(1, sizeof(*pack));

	if (pack != NULL)
		pack->deflate = libdeflate_alloc_compressor(LEVEL);
	if (pack == NULL || pack->deflate == NULL)
		abort(); /* out of memory */
	pack->format = format;
	return pack;
}

void
pack_block_free(struct pack_block **pack)
{
	if (*pack == NULL)
		return;
	libdeflate_free_compressor((*pack)->deflate);
	free((*pack)->out);
	free(*pack);
	*pack = NULL;
}

static void
make_room(struct pack_block *pack, size_t bytes)
{
	if (pack->room >= bytes)
		return;
	free(pack->out);
	pack->out = malloc(bytes);
	if (pack->out == NULL)
		abort(); /* out of memory */
	pack->room = bytes;
}

struct text
pack_block(struct pack_block *pack, const void *bytes, size_t count)
{
	size_t packed;

	if (pack->format == PACK_GZIP) {
		make_room(
		    pack, libdeflate_gzip_compress_bound(pack->deflate, count));
		packed = libdeflate_gzip_compress(
		    pack->deflate, bytes, count, pack->out, pack->room);
	} else {
		make_room(
		    pack, libdeflate_zlib_compress_bound(pack->deflate, count));
		packed = libdeflate_zlib_compress(
		    pack->deflate, bytes, count, pack->out, pack->room);
	}
	assert(packed > 0);
	return (struct text){ (const char *)pack->out, (uint32_t)packed };
}
