/*
 * compress_block - compress blocks of memory, each independently.
 * SPDX-License-Identifier: MIT
 */
#include "proto/stream/compress_block.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/os/worker.h"

struct compress_block {
	struct libdeflate_compressor *deflate;
	enum compress_format format;
	struct buffer in, out;

	struct worker *worker;
	bool is_begun; /* and its result was not fetched yet */
};

static void
compress(void *arg)
{
	struct compress_block *pack = arg;
	struct buffer *in = &pack->in, *out = &pack->out;

	out->bytes = 0;
	if (pack->format == COMPRESS_GZIP) {
		buffer_need(out,
		    libdeflate_gzip_compress_bound(pack->deflate, in->bytes));
		out->bytes = libdeflate_gzip_compress(
		    pack->deflate, in->at, in->bytes, out->at, out->room);
	} else {
		buffer_need(out,
		    libdeflate_zlib_compress_bound(pack->deflate, in->bytes));
		out->bytes = libdeflate_zlib_compress(
		    pack->deflate, in->at, in->bytes, out->at, out->room);
	}
	assert(out->bytes > 0);
}

struct compress_block *
compress_block_new(enum compress_format format)
{
	struct compress_block *pack = memory_zero(1, sizeof(*pack));

	pack->deflate = memory_must(libdeflate_alloc_compressor(COMPRESS_FAST));
	pack->format = format;
	pack->worker = worker_new(compress, pack);
	return pack;
}

void
compress_block_free(struct compress_block **pack)
{
	struct compress_block *old = *pack;

	if (old == NULL)
		return;
	worker_free(&old->worker);
	libdeflate_free_compressor(old->deflate);
	buffer_clear(&old->in);
	buffer_clear(&old->out);
	free(old);
	*pack = NULL;
}

void
compress_block_begin(
    struct compress_block *pack, const void *bytes, size_t count)
{
	assert(!pack->is_begun);
	pack->in.bytes = 0;
	buffer_put(&pack->in, bytes, count);
	pack->is_begun = true;
	worker_begin(pack->worker);
}

struct text
compress_block_take(struct compress_block *pack)
{
	if (!pack->is_begun)
		return (struct text){ NULL, 0 };
	worker_await(pack->worker);
	pack->is_begun = false;
	return (struct text){ (const char *)pack->out.at,
		(uint32_t)pack->out.bytes };
}

unsigned char *
compress_gzip(const void *bytes, size_t count, enum compress_effort effort,
    size_t *packed)
{
	struct libdeflate_compressor *deflate =
	    memory_must(libdeflate_alloc_compressor((int)effort));
	size_t room = libdeflate_gzip_compress_bound(deflate, count);
	unsigned char *to = memory_alloc(room);

	*packed = libdeflate_gzip_compress(deflate, bytes, count, to, room);
	libdeflate_free_compressor(deflate);
	assert(*packed > 0);
	return to;
}

int
decompress_block(struct buffer *to, enum compress_format format,
    struct text packed, size_t bytes_max, struct err *err)
{
	struct libdeflate_decompressor *deflate =
	    memory_must(libdeflate_alloc_decompressor());
	enum libdeflate_result result;
	size_t read = 0;

	to->bytes = 0;
	buffer_need(to, bytes_max);
	result =
	    (format == COMPRESS_GZIP ? libdeflate_gzip_decompress_ex
				     : libdeflate_zlib_decompress_ex)(deflate,
		packed.at, packed.bytes, to->at, bytes_max, &read, &to->bytes);
	libdeflate_free_decompressor(deflate);
	if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
		return err_set(
		    err, "decompressed it is longer than %zu bytes", bytes_max);
	if (result != LIBDEFLATE_SUCCESS || read != packed.bytes)
		return err_set(err, "what is compressed is damaged");
	return 0;
}
